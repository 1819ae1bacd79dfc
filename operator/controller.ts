import type { Log } from '../services/platform/log.ts'
import type { Clock } from '../services/platform/system-clock.ts'
import type { KubeApi } from './kube/api.ts'
import type { Caches } from './kube/caches.ts'
import type { EventSink } from './kube/event-sink.ts'
import type { Registry } from './registry.ts'

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
  /** Brings one object forward; may give milliseconds after which it is looked at again. */
  reconcile(name: string): Promise<number | undefined>
  /** Forgets objects that are gone. */
  prune(): void
}
