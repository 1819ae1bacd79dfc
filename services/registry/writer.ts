import { Unavailable } from '../core/failure.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import { Serial } from '../platform/serial.ts'
import type { Bus } from '../ports/bus.ts'
import type { RegistryBody, RegistryRow, RegistryStore } from '../ports/registry.ts'
import type { FollowedRegistry } from './follow.ts'

/** Maximum decisions of one change; each is repeated if another writer was faster. */
const attemptsMax = 5
/** Maximum rows of one append of symbols, so that no turn of the event loop takes long. */
const symbolsAtOnce = 2_000

/** Gets the newest registry. Returns the rows to store and the result for the caller. */
export type Decide<T> = (view: RegistryView) => { readonly rows: readonly RegistryBody[]; readonly result: T }

export interface RegistryWriter {
  /**
   * Decides a change on the newest registry and stores it. `decide` runs again if another writer was faster, so it
   * must not have side effects. Without rows nothing is written. Resolves once the change is stored and visible in
   * this process. A change of many symbols alone is stored in parts: others may see it half done, and it may fail
   * after some parts.
   */
  change<T>(decide: Decide<T>): Promise<T>
}

/** The only registry writer of this process. Changes run one after another. */
export function createRegistryWriter(
  store: RegistryStore,
  followed: FollowedRegistry,
  bus: Bus,
): RegistryWriter {
  const changes = new Serial()

  async function attempt<T>(decide: Decide<T>, left: number): Promise<T> {
    const view = followed.view()
    let basedOn = view.version
    const { rows, result } = decide(view)
    for (const part of partsOf(rows)) {
      const appended = await store.append(basedOn, part)
      if (appended.outcome === 'conflict') return again(decide, left)
      // A read could fail, and the caller would get an error for a change that is stored.
      followed.take(part.map((row, i) => asRead(row, basedOn + 1 + i)))
      basedOn = appended.version
      // Only a notification: processes that miss it find the change with the next poll.
      await bus.publish({ type: 'registry', version: basedOn }, 0).catch(() => undefined)
    }
    return result
  }

  async function again<T>(decide: Decide<T>, left: number): Promise<T> {
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

function* partsOf(rows: readonly RegistryBody[]): Generator<readonly RegistryBody[]> {
  const atOnce = rows.every(({ kind }) => kind === 'symbol') ? symbolsAtOnce : rows.length
  for (let at = 0; at < rows.length; at += atOnce) yield rows.slice(at, at + atOnce)
}

/** The row as the store returns it: without fields that are undefined. */
const asRead = (row: RegistryBody, version: number): RegistryRow => ({
  ...(JSON.parse(JSON.stringify(row)) as RegistryBody),
  version,
})
