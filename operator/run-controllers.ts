import type { KubeConfig } from '@kubernetes/client-node'
import type { ProcessContext } from '../services/platform/process/process-context.ts'
import type { ClientIdentity } from '../services/wire/client.ts'
import { type Controller, type ControllerDeps, NotLeading } from './controller.ts'
import { FeedController } from './feed/controller.ts'
import type { PodTemplate } from './feed/objects.ts'
import { KeyController } from './key/controller.ts'
import { HttpKubeApi } from './kube/api.ts'
import { type Caches, entriesOf, openCaches } from './kube/caches.ts'
import { Elector } from './kube/elector.ts'
import { EventSink } from './kube/event-sink.ts'
import type { KubeObject } from './kube/object.ts'
import { WorkQueue } from './kube/queue.ts'
import { createOperatorMetrics, type OperatorMetrics } from './metrics.ts'
import { PoolController } from './pool/controller.ts'
import { ShardCalls } from './pool/shards.ts'
import { Registry } from './registry.ts'
import { type Kind, route } from './routes.ts'
import { Sweep } from './sweep.ts'
import { isUrgent } from './urgent.ts'

interface OperatorSettings {
  readonly kube: KubeConfig
  readonly namespace: string
  /** Name of this replica's pod. */
  readonly identity: string
  readonly template: PodTemplate | undefined
  /** host:port of the ingests. */
  readonly ingest: readonly string[]
  /** Current credentials for ingest and, below, for the shards. */
  readonly admin: () => ClientIdentity
  readonly shard: () => ClientIdentity
}

/** Retry interval while a cache is not in sync, because nothing is reconciled then. */
const unsyncedMs = 1_000

/** All parts of an operator. Its controllers act while this replica is the leader. */
export class RunningControllers {
  readonly #counts: OperatorMetrics
  readonly #leaseApi: HttpKubeApi
  readonly #api: HttpKubeApi
  readonly #registry: Registry
  readonly #caches: Caches
  readonly #controllers: Readonly<Record<Kind, Controller>>
  readonly #queues: Readonly<Record<Kind, WorkQueue>>
  readonly #elector: Elector
  readonly #sweep: Sweep

  constructor(context: ProcessContext, settings: OperatorSettings) {
    const { clock, log, metrics } = context
    const { kube: config, namespace, identity } = settings
    this.#counts = createOperatorMetrics(metrics)
    this.#leaseApi = new HttpKubeApi({ config, namespace, clock, beforeWrite: () => undefined })
    const beforeWrite = ({ plural }: { readonly plural: string }): void => {
      this.#refuseOthers()
      this.#counts.written(plural)
    }
    this.#api = new HttpKubeApi({ config, namespace, clock, beforeWrite })
    const [api, refuseOthers] = [this.#api, (): void => this.#refuseOthers()]
    const { ingest: addresses, admin, shard } = settings
    this.#registry = new Registry({ addresses, identity: admin, clock, beforeWrite: refuseOthers })
    this.#caches = openCaches({
      api,
      clock,
      log,
      failed: this.#counts.watchFailed,
      changed: (kind, object) => this.#changed(kind, object),
    })
    const events = new EventSink({ api, namespace, identity, clock, log, dropped: this.#counts.eventDropped })
    const shared = { api, caches: this.#caches, registry: this.#registry, events, clock, log }
    const calls = new ShardCalls({ identity: shard, clock, log, beforeWrite: refuseOthers })
    const deps: ControllerDeps = { ...shared, held: (kind) => this.#sweep.held(kind) }
    const registered = (): void => this.#addAll('apikeys')
    this.#controllers = {
      feeds: new FeedController({ ...deps, template: settings.template, registered }),
      apikeys: new KeyController(deps),
      streampools: new PoolController({ ...deps, calls, forcedCloses: this.#counts.forcedCloses }),
    }
    const queueOf = (kind: Kind): WorkQueue =>
      new WorkQueue((name, failingMs) => this.#reconcile(kind, name, failingMs), clock, log.child({ kind }))
    this.#queues = {
      feeds: queueOf('feeds'),
      apikeys: queueOf('apikeys'),
      streampools: queueOf('streampools'),
    }
    this.#elector = new Elector({ api: this.#leaseApi, identity, clock, log, began: () => this.#began() })
    this.#sweep = new Sweep({
      ...shared,
      isLeader: () => this.#elector.isLeader,
      annotations: () => this.#elector.annotations,
      annotate: (name, value) => this.#elector.annotate(name, value),
      hasRead: (kind) => this.#hasRead(kind),
      readStores: () => this.#readStores(),
    })
    this.#counts.watch({
      caches: this.#caches,
      queues: this.#queues,
      elector: this.#elector,
      sweep: this.#sweep,
      registry: this.#registry,
    })
  }

  /** A text that names a cache that is not in sync; `undefined`: all are in sync. */
  notSynced(): string | undefined {
    const waiting = entriesOf(this.#caches).find(([, cache]) => !cache.isSynced)
    return waiting && `the cache of ${waiting[0]} is not in sync`
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#queues).map((queue) => queue.close()))
    await this.#sweep.close()
    for (const [, cache] of entriesOf(this.#caches)) cache.close()
    await this.#elector.close()
    this.#registry.close()
    this.#api.close()
    this.#leaseApi.close()
  }

  #refuseOthers(): void {
    if (!this.#elector.isLeader) throw new NotLeading('this replica is not the leader')
  }

  /** Skips the name on a replica that is not the leader: a new leader adds all names again. */
  async #reconcile(kind: Kind, name: string, failingMs: number): Promise<number | undefined> {
    if (!this.#elector.isLeader) return undefined
    const { feeds, keys } = this.#registry
    const isUnread = [feeds, keys].some(({ isLoaded, failure }) => !isLoaded && failure === undefined)
    if (this.notSynced() !== undefined || (kind !== 'streampools' && isUnread)) return unsyncedMs
    this.#counts.reconciled(kind)
    try {
      return await this.#controllers[kind].reconcile(name, failingMs)
    } catch (cause) {
      if (cause instanceof NotLeading) return undefined
      this.#counts.failed(kind)
      throw cause
    }
  }

  #changed(kind: keyof Caches, object: KubeObject | undefined): void {
    route(kind, object, { add: (of, name) => this.#add(of, name), addAll: (of) => this.#addAll(of) })
    const isGone = object !== undefined && this.#caches[kind].get(object.metadata.name) === undefined
    if (!isGone || (kind !== 'feeds' && kind !== 'apikeys')) return
    // Another Feed may wait for the key of the deleted one.
    this.#addAll(kind)
    if (kind === 'apikeys') this.#sweep.keyDeleted(object.metadata.name)
    else this.#sweep.soon()
  }

  #addAll(kind: Kind): void {
    for (const { metadata } of this.#caches[kind].all()) this.#add(kind, metadata.name)
  }

  #add(kind: Kind, name: string): void {
    this.#queues[kind].add(name, isUrgent(this.#caches[kind].get(name)))
  }

  #began(): void {
    this.#addAll('streampools')
    this.#sweep.soon()
  }

  async #readStores(): Promise<void> {
    if (!(await this.#registry.stores.refresh())) return
    this.#addAll('feeds')
    this.#addAll('streampools')
  }

  #hasRead(kind: Kind): void {
    for (const controller of Object.values(this.#controllers)) controller.prune()
    this.#addAll(kind)
  }
}
