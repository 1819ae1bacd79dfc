// Creates each missing Secret of SECRETS (name to key) with a random value. Existing Secrets stay unchanged.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const {
  KUBERNETES_SERVICE_HOST: host = '',
  KUBERNETES_SERVICE_PORT: port = '443',
  RELEASE = '',
  SECRETS = '{}',
} = process.env
const namespace = readFileSync(`${folder}/namespace`, 'utf8')
const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
const valueBytes = 32
const deadlineMs = 10_000

const make = async (name: string, key: string): Promise<string> => {
  const answer = await fetch(`${server}/api/v1/namespaces/${namespace}/secrets`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Secret',
      // Without app.kubernetes.io/instance: Argo CD prunes what has that label and is in no manifest.
      metadata: {
        name,
        labels: { 'marketdata.fxd.dev/release': RELEASE, 'marketdata.fxd.dev/generated': 'true' },
      },
      stringData: { [key]: randomBytes(valueBytes).toString('hex') },
    }),
    signal: AbortSignal.timeout(deadlineMs),
  })
  if (answer.ok) return `${name} was made\n`
  if (answer.status === 409) return `${name} is there already\n`
  throw new Error(`creating ${name} failed: ${answer.status} ${await answer.text()}`)
}

for (const [name, key] of Object.entries(JSON.parse(SECRETS) as Record<string, string>))
  process.stdout.write(await make(name, key))
