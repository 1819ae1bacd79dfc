import type { Frames } from './frame.ts'
import type { SymbolId } from './symbol-table.ts'

/** Frames of bars that closed together, by symbol number. It is cleared and used again. */
export class Burst {
  /** The frames of a symbol, in time order; read only where `mask` has the symbol's bit. */
  readonly frames: Frames[] = []
  /** One bit per symbol. */
  mask = new Uint32Array(8)
  /** Indexes of the words of `mask` that are not zero. */
  readonly words: number[] = []
  /** Monotonic milliseconds at which the first frame was added. */
  since = 0

  get empty(): boolean {
    return this.words.length === 0
  }

  add(symbol: SymbolId, frames: Frames): void {
    const word = symbol >> 5
    const bit = 1 << (symbol & 31)
    if (word >= this.mask.length) this.#grow(word)
    const bits = this.mask[word] ?? 0
    if (bits === 0) this.words.push(word)
    // Filled without holes: V8 stores an array with large holes as a slow dictionary.
    while (this.frames.length <= symbol) this.frames.push('')
    this.frames[symbol] = (bits & bit) === 0 ? frames : this.frames[symbol] + frames
    this.mask[word] = bits | bit
  }

  has(symbol: SymbolId): boolean {
    return ((this.mask[symbol >> 5] ?? 0) & (1 << (symbol & 31))) !== 0
  }

  clear(): void {
    for (const word of this.words) this.mask[word] = 0
    this.words.length = 0
  }

  #grow(word: number): void {
    const mask = new Uint32Array(Math.max(word + 1, this.mask.length * 2))
    mask.set(this.mask)
    this.mask = mask
  }
}
