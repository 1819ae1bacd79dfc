import type { Frames } from './frame.ts'
import type { SymbolId } from './symbol-table.ts'

const none = new Uint8Array(0)

/** Texts by symbol number, encoded once for all sockets. It is cleared and used again. */
export class Encoded {
  /** The bytes of the texts of each symbol, in the order in which they were added, once this is sealed. */
  readonly bytes: Uint8Array[] = []
  readonly symbols: SymbolId[] = []
  /** One bit per symbol. */
  mask = new Uint32Array(8)
  /** Indexes of the words of `mask` that are not zero. */
  readonly words: number[] = []
  readonly #texts: Frames[] = []

  get empty(): boolean {
    return this.words.length === 0
  }

  add(symbol: SymbolId, text: Frames): void {
    const word = symbol >> 5
    const bit = 1 << (symbol & 31)
    if (word >= this.mask.length) this.#grow(word)
    const bits = this.mask[word] ?? 0
    if (bits === 0) this.words.push(word)
    // Filled without holes: V8 stores an array with large holes as a slow dictionary.
    for (; this.#texts.length <= symbol; this.#texts.push('')) this.bytes.push(none)
    if ((bits & bit) === 0) this.symbols.push(symbol)
    this.#texts[symbol] += text
    this.mask[word] = bits | bit
  }

  /** Encodes the texts. No text may be added afterwards until `clear`. */
  seal(): void {
    const all = Buffer.from(this.symbols.map((symbol) => this.#texts[symbol]).join(''), 'latin1')
    let at = 0
    for (const symbol of this.symbols) {
      const { length } = this.#texts[symbol] as Frames
      this.bytes[symbol] = all.subarray(at, at + length)
      at += length
    }
  }

  has(symbol: SymbolId): boolean {
    return ((this.mask[symbol >> 5] ?? 0) & (1 << (symbol & 31))) !== 0
  }

  clear(): void {
    for (const word of this.words) this.mask[word] = 0
    this.words.length = 0
    // A symbol that seldom trades would keep the bytes of all others.
    for (const symbol of this.symbols) {
      this.bytes[symbol] = none
      this.#texts[symbol] = ''
    }
    this.symbols.length = 0
  }

  #grow(word: number): void {
    const mask = new Uint32Array(Math.max(word + 1, this.mask.length * 2))
    mask.set(this.mask)
    this.mask = mask
  }
}
