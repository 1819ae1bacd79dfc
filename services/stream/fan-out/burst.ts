import type { Frames } from './frame.ts'

/** Ready frames of the symbols that closed together, by symbol number. Emptied and used again. */
export class Burst {
  /** The frames of a symbol, in time order; read only where `mask` has the symbol's bit. */
  readonly frames: Frames[] = []
  /** One bit per symbol. */
  mask = new Uint32Array(8)
  /** The words of `mask` that are not zero. */
  readonly words: number[] = []
  /** Monotonic milliseconds at which its first frame came. */
  since = 0

  get empty(): boolean {
    return this.words.length === 0
  }

  add(symbol: number, frames: Frames): void {
    const word = symbol >> 5
    const bit = 1 << (symbol & 31)
    if (word >= this.mask.length) this.#grow(word)
    const held = this.mask[word] ?? 0
    if (held === 0) this.words.push(word)
    // Never a hole: an array with large ones is no array to V8 any more.
    while (this.frames.length <= symbol) this.frames.push('')
    this.frames[symbol] = (held & bit) === 0 ? frames : this.frames[symbol] + frames
    this.mask[word] = held | bit
  }

  has(symbol: number): boolean {
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
