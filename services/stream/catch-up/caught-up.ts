import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Connection } from '../connection/connection.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'

/**
 * Sockets that got every stored bar of a symbol. Their live bars begin with the first later bar. At most one
 * entry per socket and subscribed symbol.
 */
export class CaughtUp {
  /** The time of the last bar sent, by symbol number and socket. */
  readonly #byId = new Map<SymbolId, Map<Connection, FeedSeconds>>()
  readonly #idsOf = new Map<Connection, Set<SymbolId>>()

  /** Number of entries. */
  get count(): number {
    let count = 0
    for (const ids of this.#idsOf.values()) count += ids.size
    return count
  }

  set(connection: Connection, id: SymbolId, last: FeedSeconds): void {
    const waiting = this.#byId.get(id) ?? new Map<Connection, FeedSeconds>()
    this.#byId.set(id, waiting.set(connection, last))
    const ids = this.#idsOf.get(connection) ?? new Set<SymbolId>()
    this.#idsOf.set(connection, ids.add(id))
  }

  /** Sockets that wait for a bar of the symbol, each with the time of its last bar. */
  of(id: SymbolId): Iterable<readonly [Connection, FeedSeconds]> {
    return this.#byId.get(id) ?? []
  }

  has(id: SymbolId): boolean {
    return this.#byId.has(id)
  }

  idsOf(connection: Connection): Iterable<SymbolId> {
    return this.#idsOf.get(connection) ?? []
  }

  delete(connection: Connection, id: SymbolId): void {
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
