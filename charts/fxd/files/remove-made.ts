// Removes the objects that the release created while it ran: the Secrets of SECRETS that make-secrets.ts created, the
// collectors and the identity of the store. The Feed objects stay. Removes nothing while the release is installed.
import { readFileSync } from 'node:fs'

interface Item {
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
}

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const {
  KUBERNETES_SERVICE_HOST: host = '',
  KUBERNETES_SERVICE_PORT: port = '443',
  RELEASE = '',
  SECRETS = '{}',
  INGEST = '',
} = process.env
const namespace = readFileSync(`${folder}/namespace`, 'utf8')
const server = `https://${host.includes(':') ? `[${host}]` : host}:${port}`
const deadlineMs = 10_000

/** Calls the API server; `undefined` for a missing object. */
const call = async <T>(method: string, path: string): Promise<T | undefined> => {
  const answer = await fetch(server + path, {
    method,
    headers: { authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}` },
    signal: AbortSignal.timeout(deadlineMs),
  })
  if (answer.status === 404) return undefined
  if (!answer.ok) throw new Error(`${method} ${path} failed: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

async function removeMade(kinds: string, label: string): Promise<void> {
  const made = encodeURIComponent(`app.kubernetes.io/managed-by=fxd-operator,marketdata.fxd.dev/${label}`)
  const path = `/${kinds}?labelSelector=${made}&propagationPolicy=Background`
  const removed = await call<{ readonly items?: readonly Item[] }>('DELETE', path)
  for (const { metadata } of removed?.items ?? []) process.stdout.write(`${metadata.name} was removed\n`)
}

/** The second label is on Secrets of 0.1.0. */
const releaseLabels = ['marketdata.fxd.dev/release', 'app.kubernetes.io/instance']

async function removeSecrets(): Promise<void> {
  for (const name of Object.keys(JSON.parse(SECRETS) as object)) {
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    const labels = (await call<Item>('GET', path))?.metadata.labels ?? {}
    const isOurs = releaseLabels.some((label) => labels[label] === RELEASE)
    if (labels['marketdata.fxd.dev/generated'] !== 'true' || !isOurs) continue
    await call('DELETE', path)
    process.stdout.write(`${name} was removed\n`)
  }
}

// kubectl ignores hooks, so it applies this Job with all other objects of the release.
const ingest = await call<Item>('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/${INGEST}`)
if (ingest !== undefined && ingest.metadata.deletionTimestamp === undefined)
  process.stdout.write(
    `nothing was removed: the release is installed, since the Deployment ${INGEST} is there\n`,
  )
else {
  const configMaps = `api/v1/namespaces/${namespace}/configmaps`
  await removeMade(`apis/apps/v1/namespaces/${namespace}/statefulsets`, 'feed')
  await removeMade(configMaps, 'feed')
  await removeMade(configMaps, 'store')
  await removeSecrets()
}
