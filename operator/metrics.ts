import { fromZero, type Metrics } from '../services/platform/metrics.ts'
import { type Caches, entriesOf } from './kube/caches.ts'
import { type Condition, readyOf } from './kube/condition.ts'
import type { Elector } from './kube/elector.ts'
import type { WorkQueue } from './kube/queue.ts'
import type { Registry } from './registry.ts'
import type { Sweep } from './sweep.ts'

interface Watched {
  readonly caches: Caches
  readonly queues: Readonly<Record<string, WorkQueue>>
  readonly elector: Elector
  readonly sweep: Sweep
  readonly registry: Registry
}

const kinds = ['feeds', 'apikeys', 'streampools'] as const

export type OperatorMetrics = ReturnType<typeof createOperatorMetrics>

/** Metrics of the operator. No label value depends on an object. */
export function createOperatorMetrics(metrics: Metrics) {
  const reconciles = fromZero(
    metrics.counter('fxd_operator_reconciles_total', 'Reconciliations of one object, by kind.', ['kind']),
    'kind',
    kinds,
  )
  const failures = fromZero(
    metrics.counter(
      'fxd_operator_reconcile_failures_total',
      'Reconciliations of one object that failed and are retried, by kind.',
      ['kind'],
    ),
    'kind',
    kinds,
  )
  const writes = metrics.counter(
    'fxd_operator_writes_total',
    'Writes to the API server by resource, except those of the Lease.',
    ['resource'],
  )
  const watchFailures = metrics.counter(
    'fxd_operator_watch_failures_total',
    'Failed lists and watches of the API server, by resource.',
    ['resource'],
  )
  const droppedEvents = metrics.counter(
    'fxd_operator_dropped_events_total',
    'Kubernetes Events dropped: too many in a minute, or rejected by the API server.',
  )
  const forcedCloses = metrics.counter(
    'fxd_operator_drain_forced_closes_total',
    'Sockets that drains before the removal of a shard closed around the end of a minute.',
  )
  return {
    forcedCloses: (count: number): void => forcedCloses.inc(count),
    reconciled: (kind: string): void => reconciles.inc({ kind }),
    failed: (kind: string): void => failures.inc({ kind }),
    written: (resource: string): void => writes.inc({ resource }),
    watchFailed: (resource: string): void => watchFailures.inc({ resource }),
    eventDropped: (): void => droppedEvents.inc(),
    watch: (watched: Watched): void => watch(metrics, watched),
  }
}

function watch(metrics: Metrics, { caches, queues, elector, sweep, registry }: Watched): void {
  metrics.gauge(
    'fxd_operator_registry_reachable',
    '1 if the last read of the feeds and keys of the registry succeeded.',
    [],
    (gauge) => {
      const lists = [registry.feeds, registry.keys]
      gauge.set(Number(lists.every(({ isLoaded, failure }) => isLoaded && failure === undefined)))
    },
  )
  metrics.gauge('fxd_operator_leader', '1 on the replica that leads.', [], (gauge) =>
    gauge.set(Number(elector.isLeader)),
  )
  metrics.gauge(
    'fxd_operator_cache_synced',
    '1 while all objects of the resource are listed and watched.',
    ['resource'],
    (gauge) => {
      for (const [resource, cache] of entriesOf(caches)) gauge.set({ resource }, Number(cache.isSynced))
    },
  )
  metrics.gauge(
    'fxd_operator_queue_length',
    'Objects that wait for reconciliation, a retry or the next periodic look, by kind.',
    ['kind'],
    (gauge) => {
      for (const [kind, queue] of Object.entries(queues)) gauge.set({ kind }, queue.size)
    },
  )
  metrics.gauge(
    'fxd_operator_objects',
    'Objects by kind and by the status of their condition Ready; Ended: revoked and expired keys.',
    ['kind', 'ready'],
    (gauge) => {
      for (const kind of kinds)
        for (const ready of ['True', 'False', 'Unknown', 'Ended'] as const)
          gauge.set({ kind, ready }, countOf(caches[kind].all(), ready))
    },
  )
  metrics.gauge(
    'fxd_operator_deletions_held',
    'Feeds and keys without objects that are kept, because too many would be removed together.',
    ['kind'],
    (gauge) => {
      for (const kind of ['feeds', 'apikeys'] as const) gauge.set({ kind }, sweep.held(kind))
    },
  )
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

const countOf = (objects: readonly Conditioned[], ready: Condition['status'] | 'Ended'): number =>
  objects.filter(({ status }) => readinessOf(readyOf(status?.conditions)) === ready).length

/** Nothing is wrong with a key that ended as its object wants, so no alert counts it. */
const readinessOf = (ready: Condition | undefined): Condition['status'] | 'Ended' =>
  ready?.reason === 'Revoked' || ready?.reason === 'Expired' ? 'Ended' : (ready?.status ?? 'Unknown')
