import type { Log } from '../services/platform/log/log.ts'
import type { Clock } from '../services/platform/system-clock.ts'
import type { KubeApi } from './kube/api.ts'
import type { Caches } from './kube/caches.ts'
import type { EventSink } from './kube/event-sink.ts'
import { NotReady } from './kube/not-ready.ts'
import type { Registry } from './registry.ts'

/** While the registry was never read, an object is looked at again after so long. */
export const unloadedMs = 5_000
export const unavailable = new NotReady(
  'Unavailable',
  'Ingest or the API server does not answer; trying again.',
)

/** This replica is not the leader any more, or not yet: nothing is written. */
export class NotLeading extends Error {}

/** What the controllers of all kinds share. */
export interface ControllerDeps {
  /** Its writes reject on a replica that is not the leader. */
  readonly api: KubeApi
  readonly caches: Caches
  readonly registry: Registry
  readonly events: EventSink
  readonly clock: Clock
  readonly log: Log
  /** How many of the kind would be removed for their objects are gone, and may not. */
  readonly held: (kind: 'feeds' | 'apikeys') => number
}

/** Makes the world as the objects of one kind want it. */
export interface Controller {
  /** Takes the next steps for one object; may give milliseconds after which it is looked at again. */
  reconcile(name: string): Promise<number | undefined>
  /** Forgets objects that are gone. */
  prune(): void
}
