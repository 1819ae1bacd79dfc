import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import { BitMatrix } from './bit-matrix.ts'
import { Formats } from './formats.ts'
import { type SymbolId, SymbolTable } from './symbol-table.ts'

/**
 * Which socket subscribed to which symbol. Each socket has a row; to subscribe or to unsubscribe changes one
 * bit. A deferred symbol counts as subscribed, but its bit is not set: no burst has a frame of it for the socket.
 */
export class Subscriptions {
  /** Set bits only: the fan-out reads it. */
  readonly matrix = new BitMatrix()
  readonly symbols = new SymbolTable((id) => this.matrix.addColumn(id))
  readonly formats = new Formats()
  /** Subscriptions by row, deferred symbols included. */
  readonly #counts: number[] = []
  readonly #freeRows: number[] = []
  readonly #deferred = new Map<number, Set<SymbolId>>()

  get openRows(): number {
    return this.#counts.length - this.#freeRows.length
  }

  openRow(): number {
    const free = this.#freeRows.pop()
    if (free !== undefined) return free
    this.#counts.push(0)
    return this.matrix.addRow()
  }

  closeRow(row: number): void {
    for (const id of this.idsOf(row)) this.remove(row, id)
    this.formats.forget(row)
    this.#freeRows.push(row)
  }

  count(row: number): number {
    return this.#counts[row] ?? 0
  }

  has(row: number, id: SymbolId): boolean {
    return this.matrix.isSet(row, id) || this.isDeferred(row, id)
  }

  add(row: number, id: SymbolId): void {
    if (this.has(row, id)) return
    this.matrix.flip(row, id)
    this.#add(row, id, 1)
  }

  /** Subscribes, but no burst has a frame of the symbol for this row until it is released. */
  addDeferred(row: number, id: SymbolId): void {
    if (this.has(row, id)) return
    const deferred = this.#deferred.get(row) ?? new Set()
    this.#deferred.set(row, deferred.add(id))
    this.#add(row, id, 1)
  }

  isDeferred(row: number, id: SymbolId): boolean {
    return this.#deferred.get(row)?.has(id) ?? false
  }

  release(row: number, id: SymbolId): void {
    if (this.#undefer(row, id)) this.matrix.flip(row, id)
  }

  remove(row: number, id: SymbolId): void {
    if (!this.has(row, id)) return
    if (!this.#undefer(row, id)) this.matrix.flip(row, id)
    this.#add(row, id, -1)
  }

  /** Symbols of a socket, in the order of their numbers. */
  idsOf(row: number): SymbolId[] {
    if (this.count(row) === 0) return []
    const ids = this.matrix.columnsOf(row)
    const deferred = this.#deferred.get(row)
    return deferred ? [...ids, ...deferred].sort((a, b) => a - b) : ids
  }

  /** Whether the symbol was deferred. */
  #undefer(row: number, id: SymbolId): boolean {
    const deferred = this.#deferred.get(row)
    if (!deferred?.delete(id)) return false
    if (deferred.size === 0) this.#deferred.delete(row)
    return true
  }

  #add(row: number, id: SymbolId, by: 1 | -1): void {
    this.#counts[row] = this.count(row) + by
    this.symbols.count(id, by)
  }
}

export const symbolsOf = (subscriptions: Subscriptions, row: number): CompoundKey[] =>
  subscriptions.idsOf(row).map((id) => subscriptions.symbols.symbol(id))

export function hasSymbol(subscriptions: Subscriptions, row: number, symbol: CompoundKey): boolean {
  const id = subscriptions.symbols.knownId(symbol)
  return id !== undefined && subscriptions.has(row, id)
}
