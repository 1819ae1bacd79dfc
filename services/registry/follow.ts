import { Unavailable } from '../core/failure.ts'
import { Registry, type RegistryView } from '../core/feeds/registry.ts'
import type { Log } from '../platform/log/log.ts'
import { SharedRun } from '../platform/serial.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { RegistryStore } from '../ports/registry.ts'

const pollMs = 2_000
/** Rows may become visible a little out of order; reading the last ones again is harmless. */
const overlapVersions = 16

export interface FollowedRegistry {
  /** The last good registry; throws `Unavailable` while none was ever loaded. */
  view(): RegistryView
  readonly loaded: boolean
  /** Reads what is new at once; rejects when the store is away. */
  refresh(): Promise<void>
  onChange(listen: (view: RegistryView) => void): () => void
  close(): void
}

/** Keeps the registry in memory: an incremental read every 2 s, or sooner after a notification on the bus. */
export function followRegistry(store: RegistryStore, bus: Bus, clock: Clock, log: Log): FollowedRegistry {
  const registry = new Registry()
  const listeners = new Set<(view: RegistryView) => void>()
  let loaded = false

  const read = async (): Promise<void> => {
    const rows = await store.since(Math.max(0, registry.version - overlapVersions))
    const first = !loaded
    loaded = true
    // A row that became visible late is news, too, although its version is not.
    const changed = rows.filter((row) => registry.apply(row))
    if (first || changed.length > 0) for (const listen of listeners) listen(registry)
  }
  const reads = new SharedRun(read)
  // A read under way may have begun before the change, so one more follows it.
  const refresh = (): Promise<void> => reads.run()
  const poll = (): void => {
    refresh().catch((cause: unknown) =>
      log.warn({ err: cause }, 'the registry could not be read; going on with the last one'),
    )
  }

  const stopPolling = clock.every(pollMs, poll)
  const stopFollowing = bus.follow({
    deliver({ event }) {
      if (event.type === 'registry' && event.version > registry.version) poll()
    },
    // After a lost notification the poll finds the change.
    lost: () => undefined,
  })
  return {
    view() {
      if (!loaded) throw new Unavailable('registry')
      return registry
    },
    get loaded() {
      return loaded
    },
    refresh,
    onChange(listen) {
      listeners.add(listen)
      return () => void listeners.delete(listen)
    },
    close() {
      stopPolling()
      stopFollowing()
    },
  }
}
