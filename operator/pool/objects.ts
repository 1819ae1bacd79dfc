import { inherited } from '../kube/inherited.ts'
import { type KubeObject, listOf, type Mapping, mappingOf } from '../kube/object.ts'
import { type PoolObject, poolLabel } from '../kube/resources.ts'

/** Maximum seconds of a shard's stop, without its drain. */
const endSeconds = 45
const httpPort = 8080
/** `appProtocol` that some Gateways require for WebSocket upgrades. */
const webSocket = 'kubernetes.io/ws'

const labelsOf = ({ metadata }: PoolObject): Readonly<Record<string, string>> => ({
  [poolLabel]: metadata.name,
})

/** Selectors never have the pool's own labels: those of a Deployment are immutable. */
function metadataOf(pool: PoolObject): KubeObject['metadata'] {
  const { labels, annotations } = inherited(pool.metadata)
  return { name: pool.metadata.name, labels: { ...labels, ...labelsOf(pool) }, annotations }
}

/** Label selector of the shards, for autoscalers that read `/scale`. */
export const selectorOf = ({ metadata }: PoolObject): string => `${poolLabel}=${metadata.name}`

/** The Deployment of the shards. A rollout starts a new shard before it ends an old one, which drains first. */
export const shardDeployment = (pool: PoolObject, replicas: number) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(pool),
  spec: {
    replicas,
    revisionHistoryLimit: 3,
    selector: { matchLabels: labelsOf(pool) },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: shardTemplate(pool),
  },
})

/** The first container is the shard. */
function shardTemplate(pool: PoolObject): Mapping {
  const { drain, connectionsMax, template } = pool.spec
  const metadata = mappingOf(template['metadata'])
  const spec = mappingOf(template['spec'])
  const [first, ...others] = listOf(spec['containers'])
  const shard = mappingOf(first)
  const poolVariables = [
    { name: 'FXD_DRAIN_SECONDS', value: String(drain.seconds) },
    { name: 'FXD_STREAM_CONNECTIONS_MAX', value: String(connectionsMax) },
  ]
  const isPoolVariable = (each: unknown): boolean =>
    poolVariables.some(({ name }) => name === mappingOf(each)['name'])
  const env = [...listOf(shard['env']).filter((each) => !isPoolVariable(each)), ...poolVariables]
  return {
    metadata: { ...metadata, labels: { ...mappingOf(metadata['labels']), ...labelsOf(pool) } },
    spec: {
      ...spec,
      terminationGracePeriodSeconds: drain.seconds + endSeconds,
      containers: [{ ...shard, env }, ...others],
    },
  }
}

/** Allows one eviction at a time. Pods that are not ready may always be evicted, so that a node can be drained. */
export const shardBudget = (pool: PoolObject) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadataOf(pool),
  spec: {
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: 'AlwaysAllow',
    selector: { matchLabels: labelsOf(pool) },
  },
})

/** The Service with which an Ingress finds the shards. */
export const shardService = (pool: PoolObject) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadataOf(pool),
  spec: {
    selector: labelsOf(pool),
    ports: [{ name: 'http', protocol: 'TCP', port: httpPort, targetPort: 'http', appProtocol: webSocket }],
  },
})
