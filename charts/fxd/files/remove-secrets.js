// Removes each Secret of SECRETS that make-secrets.js made for this release.
import { readFileSync } from 'node:fs'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, RELEASE, SECRETS } = process.env
const namespace = readFileSync(`${folder}/namespace`, 'utf8')
const url = `https://${host.includes(':') ? `[${host}]` : host}:${port}/api/v1/namespaces/${namespace}/secrets`
const call = (method, name) =>
  fetch(`${url}/${name}`, {
    method,
    headers: { authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}` },
    signal: AbortSignal.timeout(10_000),
  })

for (const name of Object.keys(JSON.parse(SECRETS))) {
  const found = await call('GET', name)
  if (found.status === 404) continue
  if (!found.ok) throw new Error(`reading ${name} failed: ${found.status} ${await found.text()}`)
  const { labels = {} } = (await found.json()).metadata
  if (labels['marketdata.fxd.dev/generated'] !== 'true' || labels['app.kubernetes.io/instance'] !== RELEASE) continue
  const removed = await call('DELETE', name)
  if (!removed.ok && removed.status !== 404) throw new Error(`removing ${name} failed: ${removed.status} ${await removed.text()}`)
  console.log(`${name} was removed`)
}
