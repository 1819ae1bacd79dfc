import type { KubeConfig } from '@kubernetes/client-node'
import type { ProcessContext } from '../services/platform/process-context.ts'
import type { ClientIdentity } from '../services/wire/client.ts'
import type { Controller, ControllerDeps } from './controller.ts'
import { FeedController } from './feed/controller.ts'
import type { PodTemplate } from './feed/objects.ts'
import { KeyController } from './key/controller.ts'
import { HttpKubeApi } from './kube/api.ts'
import { ownerName } from './kube/apply-owned.ts'
import { type Caches, each, openCaches } from './kube/caches.ts'
import { Elector } from './kube/elector.ts'
import { EventSink } from './kube/event-sink.ts'
import type { KubeObject } from './kube/object.ts'
import { WorkQueue } from './kube/queue.ts'
import { keyLabel, poolLabel } from './kube/resources.ts'
import { createOperatorMetrics } from './metrics.ts'
import { PoolController } from './pool/controller.ts'
import { ShardCalls } from './pool/shards.ts'
import { Registry } from './registry.ts'
import { Sweep } from './sweep.ts'

export interface OperatorSettings {
  readonly kube: KubeConfig
  readonly namespace: string
  /** Of this replica. */
  readonly identity: string
  readonly template: PodTemplate | undefined
  /** host:port of the ingests. */
  readonly ingest: readonly string[]
  /** For ingest, and for the shards, as the files are now. */
  readonly admin: () => ClientIdentity
  readonly shard: () => ClientIdentity
}

export interface RunningControllers {
  /** Which cache is not in sync; `undefined`: all are. */
  notSynced(): string | undefined
  close(): Promise<void>
}

/** An object is looked at only while all caches are in sync; it waits that long for the next try. */
const blindMs = 1_000

type Kind = 'feeds' | 'apikeys' | 'streampools'

/** This replica is not the leader any more, or not yet: nothing is written. */
class NotLeading extends Error {}

/** Starts everything; the controllers act while this replica is the leader. */
export function runControllers(
  { clock, log, metrics }: ProcessContext,
  { kube, namespace, identity, template, ingest, admin, shard }: OperatorSettings,
): RunningControllers {
  const counts = createOperatorMetrics(metrics)
  const open = { config: kube, namespace, clock }
  const leaseApi = new HttpKubeApi({ ...open, beforeWrite: () => undefined })
  const refuseOthers = (): void => {
    if (!elector.isLeader) throw new NotLeading('this replica is not the leader')
  }
  const api = new HttpKubeApi({
    ...open,
    beforeWrite: ({ plural }) => {
      refuseOthers()
      counts.written(plural)
    },
  })
  const events = new EventSink({ api, identity, clock, log, dropped: counts.eventDropped })
  const registry = new Registry({ addresses: ingest, identity: admin, clock, beforeWrite: refuseOthers })
  const calls = new ShardCalls({ identity: shard, clock, log, beforeWrite: refuseOthers })

  const addAll = (kind: Kind): void => {
    for (const { metadata } of caches[kind].all()) queues[kind].add(metadata.name)
  }
  const caches = openCaches({
    api,
    clock,
    log,
    failed: counts.watchFailed,
    changed: (kind, object) => {
      route(kind, object, { add: (of, name) => queues[of].add(name), addAll })
      if (object !== undefined && (kind === 'feeds' || kind === 'apikeys')) noteGone(kind, object)
    },
  })
  const noteGone = (kind: 'feeds' | 'apikeys', { metadata }: KubeObject): void => {
    if (caches[kind].get(metadata.name) !== undefined) return
    // A Feed that waited for the key of this one.
    addAll(kind)
    sweep.soon()
  }
  const shared: ControllerDeps = {
    api,
    caches,
    registry,
    events,
    clock,
    log,
    held: (kind) => sweep.held(kind),
  }
  const controllers: Readonly<Record<Kind, Controller>> = {
    feeds: new FeedController({ ...shared, template, registered: () => addAll('apikeys') }),
    apikeys: new KeyController(shared),
    streampools: new PoolController({ ...shared, calls }),
  }
  const queueOf = (kind: Kind): WorkQueue =>
    new WorkQueue(
      async (name) => {
        // All names come again when this replica becomes the leader.
        if (!elector.isLeader) return undefined
        const isBlind = notSynced(caches) !== undefined || (kind !== 'streampools' && !registry.isLoaded)
        if (isBlind) return blindMs
        counts.reconciled(kind)
        return controllers[kind].reconcile(name).catch((cause: unknown) => {
          if (cause instanceof NotLeading) return undefined
          counts.failed(kind)
          throw cause
        })
      },
      clock,
      log,
    )
  const queues = { feeds: queueOf('feeds'), apikeys: queueOf('apikeys'), streampools: queueOf('streampools') }
  const began = (): void => {
    addAll('streampools')
    sweep.soon()
  }
  const elector = new Elector({ api: leaseApi, identity, clock, log, began })
  const sweep: Sweep = new Sweep({
    api,
    caches,
    registry,
    events,
    clock,
    log,
    isLeader: () => elector.isLeader,
    annotations: () => elector.annotations,
    refreshed: () => {
      for (const controller of Object.values(controllers)) controller.prune()
      addAll('feeds')
      addAll('apikeys')
    },
  })
  counts.watch({ caches, queues, elector, sweep })
  return {
    notSynced: () => notSynced(caches),
    async close() {
      for (const queue of Object.values(queues)) queue.close()
      await sweep.close()
      for (const [, cache] of each(caches)) cache.close()
      await elector.close()
      registry.close()
      api.close()
      leaseApi.close()
    },
  }
}

function notSynced(caches: Caches): string | undefined {
  const waiting = each(caches).find(([, cache]) => !cache.isSynced)
  return waiting && `the cache of ${waiting[0]} is not in sync`
}

interface Names {
  readonly add: (of: Kind, name: string) => void
  readonly addAll: (of: Kind) => void
}

/** Which objects a change may concern; a new list of their parts concerns all of them. */
function route(kind: keyof Caches, object: KubeObject | undefined, { add, addAll }: Names): void {
  if (kind === 'feeds' || kind === 'apikeys' || kind === 'streampools')
    return object === undefined ? addAll(kind) : add(kind, object.metadata.name)
  if (object === undefined) {
    if (kind === 'secrets') addAll('apikeys')
    return addAll(ownersOf[kind])
  }
  const owner = ownersOf[kind] === 'feeds' ? ownerName(object, 'Feed') : ownerName(object, 'StreamPool')
  const { [keyLabel]: key, [poolLabel]: pool } = object.metadata.labels ?? {}
  if (owner !== undefined) add(ownersOf[kind], owner)
  else if (kind === 'secrets' && key !== undefined) add('apikeys', key)
  else if (kind === 'pods' && pool !== undefined) add('streampools', pool)
}

/** Whose parts are of the kind. */
const ownersOf = {
  secrets: 'feeds',
  configmaps: 'feeds',
  statefulsets: 'feeds',
  services: 'streampools',
  pods: 'streampools',
  deployments: 'streampools',
  poddisruptionbudgets: 'streampools',
} as const satisfies Readonly<Record<Exclude<keyof Caches, Kind>, Kind>>
