import { Unavailable } from '../core/failure.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { Serial } from '../platform/serial.ts'
import type { Bus } from '../ports/bus.ts'
import type { RegistryBody, RegistryRow, RegistryStore } from '../ports/registry.ts'
import type { FollowedRegistry } from './follow.ts'

/** Maximum decisions of one change; each is repeated if another writer was faster. */
const attemptsMax = 5

export interface RegistryWriter {
  /**
   * Decides a change on the newest registry and stores it. `decide` runs again if another writer was faster, so it
   * must not have side effects. Without rows nothing is written. Resolves once the change is stored and visible in
   * this process.
   */
  change<T>(
    decide: (view: RegistryView) => { readonly rows: readonly RegistryBody[]; readonly result: T },
  ): Promise<T>
}

/** The only registry writer of this process. Changes run one after another. */
export function createRegistryWriter(
  store: RegistryStore,
  followed: FollowedRegistry,
  bus: Bus,
): RegistryWriter {
  const changes = new Serial()

  async function attempt<T>(
    decide: (view: RegistryView) => { rows: readonly RegistryBody[]; result: T },
    left: number,
  ): Promise<T> {
    const view = followed.view()
    const basedOn = view.version
    const { rows, result } = decide(view)
    if (rows.length === 0) return result
    const appended = await store.append(basedOn, rows)
    if (appended.outcome === 'stored') {
      // A read could fail, and the caller would get an error for a change that is stored.
      followed.take(rows.map((row, i) => asRead(row, basedOn + 1 + i)))
      // Only a notification: processes that miss it find the change with the next poll.
      await bus.publish({ type: 'registry', version: appended.version }, 0).catch(() => undefined)
      return result
    }
    await followed.refresh()
    if (left <= 1)
      throw new Unavailable(
        'registry',
        new Error(`the registry changed during each of ${attemptsMax} attempts`),
      )
    return attempt(decide, left - 1)
  }

  return {
    change: (decide) => changes.run(() => attempt(decide, attemptsMax)),
  }
}

/** The row as the store returns it: without fields that are undefined. */
const asRead = (row: RegistryBody, version: number): RegistryRow => ({
  ...(JSON.parse(JSON.stringify(row)) as RegistryBody),
  version,
})
