import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Connection } from '../sockets/connection.ts'

/**
 * Sockets that were sent every bar there is of a symbol, and join with the first one later than that. One
 * entry per socket and symbol that it subscribed to, at most.
 */
export class CaughtUp {
  /** The time of the last bar sent, by symbol number and socket. */
  readonly #byId = new Map<number, Map<Connection, FeedSeconds>>()
  readonly #idsOf = new Map<Connection, Set<number>>()

  /** Entries in all. */
  get count(): number {
    let count = 0
    for (const ids of this.#idsOf.values()) count += ids.size
    return count
  }

  set(connection: Connection, id: number, last: FeedSeconds): void {
    const waiting = this.#byId.get(id) ?? new Map<Connection, FeedSeconds>()
    this.#byId.set(id, waiting.set(connection, last))
    const ids = this.#idsOf.get(connection) ?? new Set<number>()
    this.#idsOf.set(connection, ids.add(id))
  }

  /** Those who wait for a bar of the symbol. */
  of(id: number): Iterable<readonly [Connection, FeedSeconds]> {
    return this.#byId.get(id) ?? []
  }

  has(id: number): boolean {
    return this.#byId.has(id)
  }

  idsOf(connection: Connection): Iterable<number> {
    return this.#idsOf.get(connection) ?? []
  }

  delete(connection: Connection, id: number): void {
    const waiting = this.#byId.get(id)
    waiting?.delete(connection)
    if (waiting?.size === 0) this.#byId.delete(id)
    const ids = this.#idsOf.get(connection)
    ids?.delete(id)
    if (ids?.size === 0) this.#idsOf.delete(connection)
  }

  clear(): void {
    this.#byId.clear()
    this.#idsOf.clear()
  }
}
