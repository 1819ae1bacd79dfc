import type { Log } from '../services/platform/log/log.ts'
import type { Clock } from '../services/platform/system-clock.ts'
import type { KubeApi } from './kube/api.ts'
import type { Caches } from './kube/caches.ts'
import type { EventSink } from './kube/event-sink.ts'
import { NotReady } from './kube/not-ready.ts'
import type { Registry } from './registry.ts'
import type { RegisteredKind } from './routes.ts'

/** Retry interval of an object until the registry was read once. */
export const unloadedMs = 5_000
export const unavailable = new NotReady('Unavailable', 'Ingest or the API server is unavailable; retrying.')

/** This replica is not the leader, so it writes nothing. */
export class NotLeading extends Error {}

export interface SharedDeps {
  /** Its writes reject on a replica that is not the leader. */
  readonly api: KubeApi
  readonly caches: Caches
  readonly registry: Registry
  readonly events: EventSink
  readonly clock: Clock
  readonly log: Log
}

export interface ControllerDeps extends SharedDeps {
  /** Number of feeds or keys without an object whose removal is held as a possible mass deletion. */
  readonly held: (kind: RegisteredKind) => number
}

/** Reconciles the objects of one kind: makes the registry and the cluster match them. */
export interface Controller {
  /** May return milliseconds after which it runs again. `failingMs`: time since the first of its failures in a row. */
  reconcile(name: string, failingMs: number): Promise<number | undefined>
  /** Drops the state of deleted objects. */
  prune(): void
}
