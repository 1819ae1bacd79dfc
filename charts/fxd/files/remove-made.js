// Removes what the release made while it ran: each Secret of SECRETS that make-secrets.js made, and the collectors, whose
// Feed objects stay.
import { readFileSync } from 'node:fs'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, RELEASE, SECRETS } = process.env
const namespace = readFileSync(`${folder}/namespace`, 'utf8')
const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
const call = (method, path) =>
  fetch(server + path, {
    method,
    headers: { authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}` },
    signal: AbortSignal.timeout(10_000),
  })

const made = encodeURIComponent('app.kubernetes.io/managed-by=fxd-operator,marketdata.fxd.dev/feed')
for (const [group, kinds] of [['apis/apps/v1', 'statefulsets'], ['api/v1', 'configmaps']]) {
  const removed = await call('DELETE', `/${group}/namespaces/${namespace}/${kinds}?labelSelector=${made}&propagationPolicy=Background`)
  if (!removed.ok) throw new Error(`removing ${kinds} failed: ${removed.status} ${await removed.text()}`)
  for (const { metadata } of (await removed.json()).items ?? []) console.log(`${kinds} ${metadata.name} was removed`)
}

for (const name of Object.keys(JSON.parse(SECRETS))) {
  const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
  const found = await call('GET', path)
  if (found.status === 404) continue
  if (!found.ok) throw new Error(`reading ${name} failed: ${found.status} ${await found.text()}`)
  const { labels = {} } = (await found.json()).metadata
  if (labels['marketdata.fxd.dev/generated'] !== 'true' || labels['app.kubernetes.io/instance'] !== RELEASE) continue
  const removed = await call('DELETE', path)
  if (!removed.ok && removed.status !== 404) throw new Error(`removing ${name} failed: ${removed.status} ${await removed.text()}`)
  console.log(`${name} was removed`)
}
