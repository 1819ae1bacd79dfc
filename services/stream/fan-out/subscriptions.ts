import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { Burst } from './burst.ts'
import type { Frames } from './frame.ts'

const rowsAtFirst = 64
const wordsAtFirst = 8

/**
 * Who subscribed to what: a matrix of bits, one row per socket and one column per symbol. Adding and
 * removing are one bit each, a socket with 200 of 2,000 symbols costs 250 bytes, and what a burst
 * holds for a socket is found by comparing 32 symbols at a time.
 * Symbols get their number when they are first seen and keep it; the registry bounds how many there are.
 */
export class Subscriptions {
  readonly #ids = new Map<CompoundKey, number>()
  readonly #symbols: CompoundKey[] = []
  /** Subscribers by symbol. */
  readonly #subscribers: number[] = []
  #words = wordsAtFirst
  #bits = new Uint32Array(rowsAtFirst * wordsAtFirst)
  /** Subscriptions by row. */
  #counts = new Uint32Array(rowsAtFirst)
  readonly #freeRows: number[] = []
  /** Subscribed symbols whose bars wait, by row. */
  readonly #held = new Map<number, Set<number>>()
  #rows = 0
  #total = 0

  /** Rows ever in use at a time; every row is below. */
  get rows(): number {
    return this.#rows
  }

  /** Subscriptions over all rows. */
  get total(): number {
    return this.#total
  }

  /** Symbols with at least one subscriber. */
  subscribedIds(): number[] {
    const ids: number[] = []
    this.#subscribers.forEach((count, id) => count > 0 && ids.push(id))
    return ids
  }

  openRow(): number {
    const free = this.#freeRows.pop()
    if (free !== undefined) return free
    if (this.#rows === this.#counts.length) this.#resize(this.#rows * 2, this.#words)
    return this.#rows++
  }

  closeRow(row: number): void {
    for (const id of this.idsOf(row)) this.remove(row, id)
    this.#freeRows.push(row)
  }

  /** Without giving a number to a symbol that has none. */
  knownId(symbol: CompoundKey): number | undefined {
    return this.#ids.get(symbol)
  }

  idOf(symbol: CompoundKey): number {
    const known = this.#ids.get(symbol)
    if (known !== undefined) return known
    const id = this.#symbols.push(symbol) - 1
    this.#ids.set(symbol, id)
    this.#subscribers.push(0)
    if (id >= this.#words * 32) this.#resize(this.#counts.length, this.#words * 2)
    return id
  }

  symbol(id: number): CompoundKey {
    return this.#symbols[id] as CompoundKey
  }

  subscribers(id: number): number {
    return this.#subscribers[id] ?? 0
  }

  count(row: number): number {
    return this.#counts[row] ?? 0
  }

  has(row: number, id: number): boolean {
    return this.#isSet(row, id) || this.isHeld(row, id)
  }

  add(row: number, id: number): void {
    if (this.has(row, id)) return
    this.#flip(row, id)
    this.#add(row, id, 1)
  }

  /** Subscribes, but no burst holds a frame of the symbol for this row until it is released. */
  hold(row: number, id: number): void {
    if (this.has(row, id)) return
    const held = this.#held.get(row) ?? new Set()
    this.#held.set(row, held.add(id))
    this.#add(row, id, 1)
  }

  isHeld(row: number, id: number): boolean {
    return this.#held.get(row)?.has(id) ?? false
  }

  release(row: number, id: number): void {
    if (this.#unhold(row, id)) this.#flip(row, id)
  }

  remove(row: number, id: number): void {
    if (!this.has(row, id)) return
    if (!this.#unhold(row, id)) this.#flip(row, id)
    this.#add(row, id, -1)
  }

  /** Symbols of a socket, in the order of their numbers. */
  idsOf(row: number): number[] {
    const ids: number[] = []
    if (this.count(row) === 0) return ids
    const start = row * this.#words
    for (let word = 0; word < this.#words; word++) {
      for (let bits = this.#bits[start + word] ?? 0; bits !== 0; bits &= bits - 1) {
        ids.push(word * 32 + lowestBit(bits))
      }
    }
    const held = this.#held.get(row)
    return held ? [...ids, ...held].sort((a, b) => a - b) : ids
  }

  /** The frames of a burst that this socket subscribed to, joined; empty if there are none. */
  gather(row: number, burst: Burst): Frames {
    const start = row * this.#words
    let frames = ''
    for (const word of burst.words) {
      let bits = (this.#bits[start + word] ?? 0) & (burst.mask[word] ?? 0)
      for (; bits !== 0; bits &= bits - 1) frames += burst.frames[word * 32 + lowestBit(bits)] ?? ''
    }
    return frames
  }

  #at(row: number, id: number): number {
    return row * this.#words + (id >> 5)
  }

  #isSet(row: number, id: number): boolean {
    return ((this.#bits[this.#at(row, id)] ?? 0) & (1 << (id & 31))) !== 0
  }

  #flip(row: number, id: number): void {
    const at = this.#at(row, id)
    this.#bits[at] = (this.#bits[at] ?? 0) ^ (1 << (id & 31))
  }

  /** Whether it was held. */
  #unhold(row: number, id: number): boolean {
    const held = this.#held.get(row)
    if (!held?.delete(id)) return false
    if (held.size === 0) this.#held.delete(row)
    return true
  }

  #add(row: number, id: number, by: 1 | -1): void {
    this.#counts[row] = this.count(row) + by
    this.#subscribers[id] = this.subscribers(id) + by
    this.#total += by
  }

  #resize(rows: number, words: number): void {
    const bits = new Uint32Array(rows * words)
    for (let row = 0; row < this.#rows; row++) {
      bits.set(this.#bits.subarray(row * this.#words, (row + 1) * this.#words), row * words)
    }
    const counts = new Uint32Array(rows)
    counts.set(this.#counts)
    this.#bits = bits
    this.#counts = counts
    this.#words = words
  }
}

/** The index of the lowest bit that is set. */
const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
