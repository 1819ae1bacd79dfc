import type { UtcMs } from '../../services/core/clocks/feed-clock.ts'
import type { Load__Output } from '../../services/wire/gen/fxd/v1/Load.ts'
import { type About, type Condition, conditionOf, type Outcome, outcome, readyOf } from '../kube/condition.ts'
import type { StreamPoolStatus } from '../kube/kinds.ts'
import type { NotReady } from '../kube/not-ready.ts'
import type { PoolObject, Workload } from '../kube/resources.ts'
import { isRollingOut, isUnseen } from '../kube/rollout.ts'
import type { StoreOutcomes } from '../store-health.ts'
import { underStores } from '../under-stores.ts'
import type { Scaling } from './autoscale.ts'
import { selectorOf } from './objects.ts'

export interface PoolFacts {
  readonly pool: PoolObject
  readonly deployment: Workload | undefined
  /** Loads of the shards that answer. */
  readonly loads: readonly Load__Output[]
  /** Number of shards whose pods are ready but that do not answer the operator. */
  readonly unreachable: number
  /** `undefined`: the pool has no autoscaler. */
  readonly scaling: Scaling | undefined
  /** `undefined`: ingest was not asked yet. */
  readonly stores: StoreOutcomes | undefined
  readonly blocked: NotReady | undefined
  readonly nowMs: UtcMs
}

/** The status that `kubectl get streampools` shows and autoscalers read. */
export function poolStatusOf(facts: PoolFacts): StreamPoolStatus {
  const { pool, deployment, loads, scaling, nowMs } = facts
  const { generation = 0 } = pool.metadata
  const about = { generation, had: pool.status?.conditions, nowMs }
  const { replicas = 0, readyReplicas = 0 } = deployment?.status ?? {}
  return {
    observedGeneration: generation,
    replicas,
    readyReplicas,
    drainingReplicas: loads.filter(({ draining }) => draining).length,
    connections: loads.reduce((sum, { connections }) => sum + connections, 0),
    subscriptions: loads.reduce((sum, { subscriptions }) => sum + subscriptions, 0),
    selector: selectorOf(pool),
    conditions: [
      ...underStores(readiness(facts), facts.stores, about),
      ...aboveMaximum(pool, about),
      ...(scaling ? [conditionOf('Autoscaled', autoscaled(scaling), about)] : []),
    ],
  }
}

/** Nothing else shows that QuestDB may run out of connections: further ones hang without an error. */
function aboveMaximum(
  { spec: { replicas, replicasMax = replicas } }: PoolObject,
  about: About,
): readonly Condition[] {
  if (replicas <= replicasMax) return []
  const message =
    `The pool was scaled to ${replicas} shards, and spec.replicasMax is ${replicasMax}: QuestDB may run out of connections. ` +
    `Scale the pool to ${replicasMax}, or raise QuestDB's limit of connections and stream.replicasMax of the chart.`
  return [conditionOf('AboveMaximum', outcome('True', 'ScaledAboveMaximum', message), about)]
}

const autoscaled = ({ reason, message }: Scaling): Outcome => ({
  status: reason === 'Following' || reason === 'AtMaximum' || reason === 'AtMinimum' ? 'True' : 'False',
  reason,
  message,
})

/** More pods are wanted than there are, as in a plain scale-up. */
const isGrowing = ({ spec, status }: Workload): boolean => (spec?.replicas ?? 0) > (status?.replicas ?? 0)

function readiness({ pool, deployment, unreachable, blocked }: PoolFacts): Outcome {
  if (blocked) return outcome('False', blocked.reason, blocked.message)
  const wanted = pool.spec.replicas
  const { readyReplicas: ready = 0, conditions = [] } = deployment?.status ?? {}
  const failed = conditions.find(
    ({ type, status }) =>
      (type === 'ReplicaFailure' && status === 'True') || (type === 'Progressing' && status === 'False'),
  )
  if (failed) return outcome('False', failed.reason ?? 'Failed', failed.message ?? '')
  const had = readyOf(pool.status?.conditions)
  const isKnown = pool.status?.observedGeneration === pool.metadata.generation && had !== undefined
  const isShort = Math.min(ready, deployment?.spec?.replicas ?? 0) < wanted
  // Only the number of shards changed, just now.
  if (deployment && isUnseen(deployment) && isKnown && !isShort) return had
  const surplus = (deployment?.spec?.replicas ?? 0) - wanted
  const isReplacing =
    deployment && (isRollingOut(deployment) || (isUnseen(deployment) && !isGrowing(deployment)))
  if (deployment === undefined || isReplacing)
    return outcome(
      'False',
      'RollingOut',
      `${ready} of ${wanted} shards are ready; pods are being replaced.` +
        (surplus > 0 ? ' The pool shrinks after that.' : ''),
    )
  if (isShort) return outcome('False', 'ShardsNotReady', `${ready} of ${wanted} shards are ready.`)
  if (unreachable > 0)
    return outcome(
      'False',
      'ShardsUnreachable',
      `${unreachable} of ${ready} ready shards do not answer the operator on their gRPC port.`,
    )
  if (surplus > 0)
    return outcome('True', 'Draining', `${surplus} shards close their sockets before they end.`)
  return outcome('True', 'Serving', `${ready} shards are ready.`)
}
