import { Unavailable } from '../core/failure.ts'
import { Registry, type RegistryView } from '../core/registry/registry.ts'
import type { Log } from '../platform/log/log.ts'
import { OutageLog } from '../platform/outage-log.ts'
import { SharedRun } from '../platform/serial.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { RegistryRow, RegistryStore } from '../ports/registry.ts'

const pollMs = 2_000
/** Versions that are read again: rows may become visible slightly out of order. */
const overlapVersions = 16

type RegistryListener = (view: RegistryView, isOther: boolean) => void

export interface FollowedRegistry {
  /** The last registry that was read; throws `Unavailable` before the first one. */
  view(): RegistryView
  readonly loaded: boolean
  /** Milliseconds since the last successful read; before the first, since the start. */
  readonly ageMs: number
  /** Reads new rows immediately; rejects if the store is unavailable. */
  refresh(): Promise<void>
  /** Takes rows that this process stored, without a read. */
  take(rows: readonly RegistryRow[]): void
  /**
   * Calls `listen` after each change. `isOther`: this registry replaced the one before, and with it the store.
   * Returns the function that stops it.
   */
  onChange(listen: RegistryListener): () => void
  close(): void
}

/** Keeps the registry in memory: reads new rows every 2 s, or immediately after a notification on the bus. */
export function followRegistry(store: RegistryStore, bus: Bus, clock: Clock, log: Log): FollowedRegistry {
  let registry = new Registry()
  let { generation } = store
  const listeners = new Set<RegistryListener>()
  let loaded = false
  let readMs = clock.monotonicMs()

  const take = (rows: readonly RegistryRow[], isOther = false): void => {
    const first = !loaded || isOther
    loaded = true
    // A row that became visible late is a change too, although its version is old.
    const changed = rows.filter((row) => registry.apply(row))
    if (first || changed.length > 0) for (const listen of listeners) listen(registry, isOther)
  }
  const read = async (): Promise<void> => {
    const rows = await store.since(Math.max(0, registry.version - overlapVersions))
    if (store.generation === generation) take(rows)
    else await readOther()
    readMs = clock.monotonicMs()
  }
  /** The store was replaced: nothing of the registry before is true. */
  const readOther = async (): Promise<void> => {
    const replacing = store.generation
    const rows = await store.since(0)
    generation = replacing
    registry = new Registry()
    take(rows, true)
  }
  const reads = new SharedRun(read)
  // A read in progress may have started before the change: one more follows, shared by all calls until then.
  const refresh = (): Promise<void> => reads.run()
  const outage = new OutageLog({ log, clock })
  const poll = (): void => {
    refresh().then(
      () => outage.worked('registry available again'),
      (cause: unknown) =>
        outage.failed({ text: 'registry unavailable; continuing with the last version; retrying', cause }),
    )
  }

  const stopPolling = clock.every(pollMs, poll)
  const stopFollowing = bus.follow({
    wants: 'registry',
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
    get ageMs() {
      return clock.monotonicMs() - readMs
    },
    refresh,
    take: (rows) => take(rows),
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
