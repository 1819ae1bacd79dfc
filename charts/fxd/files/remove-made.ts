// Removes the objects that the release created while it ran: the Secrets of SECRETS that make-secrets.ts created, the
// collectors, the identity of the store and the Lease of the operator. Feed and ApiKey objects stay, and no longer claim to
// be ready. Removes nothing while the release is installed.
import { readFileSync } from 'node:fs'

interface Item {
  readonly metadata: {
    readonly name: string
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
}

interface List {
  readonly items?: readonly Item[]
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
/** Maximum wait for the end of the operators, which Kubernetes kills after 30 s. */
const operatorsEndMs = 60_000

/** Calls the API server; `undefined` for a missing object. `change` is a merge patch. */
const call = async <T>(method: string, path: string, change?: object): Promise<T | undefined> => {
  const answer = await fetch(server + path, {
    method,
    headers: {
      authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8')}`,
      ...(change && { 'content-type': 'application/merge-patch+json' }),
    },
    ...(change && { body: JSON.stringify(change) }),
    signal: AbortSignal.timeout(deadlineMs),
  })
  if (answer.status === 404) return undefined
  if (!answer.ok) throw new Error(`${method} ${path} failed: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

async function removeMade(kinds: string, label: string): Promise<void> {
  const made = encodeURIComponent(`app.kubernetes.io/managed-by=fxd-operator,marketdata.fxd.dev/${label}`)
  const path = `/${kinds}?labelSelector=${made}&propagationPolicy=Background`
  const removed = await call<List>('DELETE', path)
  for (const { metadata } of removed?.items ?? []) process.stdout.write(`${metadata.name} was removed\n`)
}

async function removeSecrets(): Promise<void> {
  for (const name of Object.keys(JSON.parse(SECRETS) as object)) {
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    const labels = (await call<Item>('GET', path))?.metadata.labels ?? {}
    if (labels['marketdata.fxd.dev/generated'] !== 'true' || labels['marketdata.fxd.dev/release'] !== RELEASE)
      continue
    await call('DELETE', path)
    process.stdout.write(`${name} was removed\n`)
  }
}

/** An operator that still runs would write over the conditions, and make its Lease again. */
async function waitForOperators(): Promise<void> {
  const operators = encodeURIComponent(
    `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=operator`,
  )
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${operators}`
  const endMs = Date.now() + operatorsEndMs
  while (Date.now() < endMs) {
    if ((await call<List>('GET', path))?.items?.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}

/** Without an operator nobody knows whether an object is ready. */
async function markObjects(): Promise<void> {
  const condition = {
    type: 'Ready',
    status: 'Unknown',
    reason: 'OperatorGone',
    message: 'fxd was uninstalled. Nothing changes this object until it is installed again.',
    lastTransitionTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  }
  for (const kind of ['feeds', 'apikeys', 'streampools']) {
    const path = `/apis/marketdata.fxd.dev/v1alpha1/namespaces/${namespace}/${kind}`
    for (const { metadata } of (await call<List>('GET', path))?.items ?? [])
      await call('PATCH', `${path}/${metadata.name}/status`, {
        status: { state: null, conditions: [condition] },
      })
  }
}

// kubectl ignores hooks, so it applies this Job with all other objects of the release.
const ingest = await call<Item>('GET', `/apis/apps/v1/namespaces/${namespace}/deployments/${INGEST}`)
if (ingest !== undefined && ingest.metadata.deletionTimestamp === undefined)
  process.stdout.write(
    `nothing was removed: the release is installed, since the Deployment ${INGEST} is there\n`,
  )
else {
  await waitForOperators()
  const configMaps = `api/v1/namespaces/${namespace}/configmaps`
  await removeMade(`apis/apps/v1/namespaces/${namespace}/statefulsets`, 'feed')
  await removeMade(configMaps, 'feed')
  await removeMade(configMaps, 'store')
  await removeSecrets()
  await markObjects()
  await call('DELETE', `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/fxd-operator`)
}
