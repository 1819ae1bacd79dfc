import { hash } from 'node:crypto'
import { posix } from 'node:path'
import { inherited, type LabelsAndAnnotations } from '../kube/inherited.ts'
import { listOf, type Mapping } from '../kube/object.ts'
import { apiVersionOf, type FeedObject, feedLabel, group, resources } from '../kube/resources.ts'

/** Mount paths in a collector's pod. */
const folders = {
  feed: '/etc/fxd/feed',
  token: '/etc/fxd/token',
  spool: '/var/lib/fxd',
  source: '/var/lib/fxd-source',
} as const
const manifestFile = 'feed.yaml'
const spoolSizeDefault = '1Gi'
/** Maximum share of the volume for the spool; the rest is for the file system and other files. */
const spoolShare = 0.8
/** Maximum of FXD_SPOOL_MIB. */
const spoolMibMax = 1_000_000
const mibOf = new Map([
  ['Mi', 1],
  ['Gi', 1_024],
  ['Ti', 1_024 ** 2],
])

/** Pod template of all collectors. The first container is the collector; the operator adds the parts of a feed. */
export interface PodTemplate {
  /** Labels and annotations of the StatefulSets. */
  readonly workloadMetadata?: LabelsAndAnnotations
  readonly metadata?: { readonly labels?: Mapping; readonly annotations?: Mapping }
  readonly spec: { readonly containers: readonly Mapping[]; readonly volumes?: readonly Mapping[] }
  /** Absent: no feed may have the source Terminal. */
  readonly terminals?: TerminalTemplate
}

/** How terminals reach the collectors. */
export interface TerminalTemplate {
  /** Environment of collectors of feeds with source Terminal. */
  readonly env: readonly Mapping[]
  /** Begin of the addresses that a proxy routes, such as https://terminals.example.org. */
  readonly url?: string
  /** Names of the Feeds that it routes. */
  readonly feeds?: readonly string[]
}

export const feedKeyOf = ({ spec }: FeedObject): string => `${spec.broker}:${spec.account}`

export const collectorNames = (feed: string) =>
  ({ set: `${feed}-collector`, manifest: `${feed}-feed`, token: `${feed}-token` }) as const

/** The manifest for the registry: the object without the fields that only Kubernetes needs. */
export const manifestOf = ({ metadata, spec }: FeedObject): string =>
  JSON.stringify({
    apiVersion: apiVersionOf(resources.feeds),
    kind: 'Feed',
    metadata: { name: metadata.name },
    spec,
  })

/** The manifest for the collector: its path is on the mounted volume. */
function collectedManifest(feed: FeedObject): string {
  const { collector: _, ...spec } = feed.spec
  const { volumeClaim, ...source } = spec.source
  if (volumeClaim === undefined || source.path === undefined) return manifestOf({ ...feed, spec })
  return manifestOf({
    ...feed,
    spec: { ...spec, source: { ...source, path: posix.join(folders.source, source.path) } },
  })
}

export const manifestMap = (feed: FeedObject) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: collectorNames(feed.metadata.name).manifest, labels: labelsOf(feed) },
  data: { [manifestFile]: collectedManifest(feed) },
})

/** The StatefulSet of one collector, or of two with one as standby. A change of the manifest replaces the pods. */
export function collectorSet(feed: FeedObject, template: PodTemplate) {
  const { name } = feed.metadata
  const { replicas = 1, storage } = feed.spec.collector ?? {}
  const { set } = collectorNames(name)
  const { labels, annotations } = inherited(template.workloadMetadata ?? {})
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: set, labels: { ...labels, ...labelsOf(feed) }, annotations },
    spec: {
      replicas,
      serviceName: set,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labelsOf(feed) },
      template: collectorTemplate(feed, template),
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'spool', labels: claimLabels(template) },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: spoolSizeOf(feed) } },
            ...(storage?.className !== undefined && { storageClassName: storage.className }),
          },
        },
      ],
    },
  }
}

function collectorTemplate(feed: FeedObject, { metadata = {}, spec }: PodTemplate): Mapping {
  const [first = {}, ...others] = spec.containers
  const { volumeClaim } = feed.spec.source
  const names = collectorNames(feed.metadata.name)
  const mount = (name: keyof typeof folders): Mapping => ({ name, mountPath: folders[name] })
  const mountReadOnly = (name: keyof typeof folders): Mapping => ({ ...mount(name), readOnly: true })
  const env = listOf(first['env'])
  const hasSpoolMib = env.some((each) => (each as Mapping)['name'] === 'FXD_SPOOL_MIB')
  const digest = hash('sha256', collectedManifest(feed)).slice(0, 32)
  return {
    metadata: {
      labels: { ...metadata.labels, ...labelsOf(feed) },
      annotations: { ...metadata.annotations, [`${group}/manifest`]: digest },
    },
    spec: {
      ...spec,
      containers: [
        {
          ...first,
          env: [
            ...env,
            { name: 'FXD_FEEDS', value: `${folders.feed}/${manifestFile}` },
            { name: 'FXD_TOKEN_FILE', value: `${folders.token}/token` },
            { name: 'FXD_DATA_DIR', value: folders.spool },
            ...(hasSpoolMib ? [] : [{ name: 'FXD_SPOOL_MIB', value: String(spoolMib(feed)) }]),
          ],
          volumeMounts: [
            ...listOf(first['volumeMounts']),
            mountReadOnly('feed'),
            mountReadOnly('token'),
            mount('spool'),
            ...(volumeClaim === undefined ? [] : [mountReadOnly('source')]),
          ],
        },
        ...others,
      ],
      volumes: [
        ...(spec.volumes ?? []),
        { name: 'feed', configMap: { name: names.manifest } },
        { name: 'token', secret: { secretName: names.token } },
        ...(volumeClaim === undefined
          ? []
          : [{ name: 'source', persistentVolumeClaim: { claimName: volumeClaim, readOnly: true } }]),
      ],
    },
  }
}

const spoolSizeOf = ({ spec }: FeedObject): string => spec.collector?.storage?.size ?? spoolSizeDefault

/** Maximum MiB of the spool for its volume, whose size is `<number>Mi`, `Gi` or `Ti`. */
function spoolMib(feed: FeedObject): number {
  const size = spoolSizeOf(feed)
  const mib = Number(size.slice(0, -2)) * (mibOf.get(size.slice(-2)) ?? 1)
  return Math.min(spoolMibMax, Math.max(1, Math.floor(mib * spoolShare)))
}

/** A claim template is immutable, so it has only labels that never change. */
function claimLabels({ metadata }: PodTemplate): Mapping {
  const stable = ['name', 'instance', 'component', 'part-of'].map((name) => `app.kubernetes.io/${name}`)
  return Object.fromEntries(Object.entries(metadata?.labels ?? {}).filter(([name]) => stable.includes(name)))
}

const labelsOf = ({ metadata }: FeedObject): Readonly<Record<string, string>> => ({
  [feedLabel]: metadata.name,
})
