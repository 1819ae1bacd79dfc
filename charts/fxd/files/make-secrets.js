// Makes each Secret of SECRETS (name to key) that is not there, with a random value. One that is there stays as it is.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, RELEASE, SECRETS } = process.env
const namespace = readFileSync(`${folder}/namespace`, 'utf8')
const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}/api/v1/namespaces/${namespace}/secrets`

for (const [name, key] of Object.entries(JSON.parse(SECRETS))) {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        labels: { 'app.kubernetes.io/instance': RELEASE, 'marketdata.fxd.dev/generated': 'true' },
      },
      stringData: { [key]: randomBytes(32).toString('hex') },
    }),
    signal: AbortSignal.timeout(10_000),
  })
  if (!answer.ok && answer.status !== 409) throw new Error(`creating ${name} failed: ${answer.status} ${await answer.text()}`)
  console.log(answer.ok ? `${name} was made` : `${name} is there already`)
}
