import type { BitMatrix } from './bit-matrix.ts'
import type { Burst } from './burst.ts'
import { WriteMemory } from './write-memory.ts'

/** Copies what one socket gets of a burst into one piece of memory. */
export class Gathering {
  readonly #matrix: BitMatrix
  readonly #memory = new WriteMemory()
  /** The symbols of the burst that the socket subscribed to. */
  #found = new Uint32Array(0)

  constructor(matrix: BitMatrix) {
    this.#matrix = matrix
  }

  /** Must be called before a burst is gathered. */
  begin({ frames, lists }: Burst): void {
    const inLists = lists.reduce((sum, { entries }) => sum + entries.symbols.length, 0)
    const most = Math.max(frames.symbols.length, inLists)
    if (this.#found.length < most) this.#found = new Uint32Array(most)
  }

  /** The memory may be used again. */
  release(frames: Buffer): void {
    this.#memory.release(frames)
  }

  /** A frame for each bar; `undefined` if the socket gets none. */
  single(row: number, { frames }: Burst): Buffer | undefined {
    const count = this.#matrix.common(row, frames, this.#found)
    if (count === 0) return undefined
    const symbols = this.#found.subarray(0, count)
    const memory = this.#memory.take(frames.lengthOf(symbols))
    frames.copy(symbols, memory, 0)
    return memory
  }

  /** Frames with many bars, each of one feed and one time; `undefined` if the socket gets none. */
  joined(row: number, { lists }: Burst): Buffer | undefined {
    const copies: ((into: Buffer, at: number) => number)[] = []
    let count = 0
    let size = 0
    for (const list of lists) {
      const before = count
      count = this.#matrix.common(row, list.entries, this.#found, before)
      if (count - before === list.entries.symbols.length) {
        size += list.whole.length
        copies.push((into, at) => at + list.whole.copy(into, at))
        continue
      }
      for (const frame of list.frames(this.#found.subarray(before, count))) {
        size += frame.length
        copies.push((into, at) => list.copy(frame, into, at))
      }
    }
    if (size === 0) return undefined
    const memory = this.#memory.take(size)
    let at = 0
    for (const copy of copies) at = copy(memory, at)
    return memory
  }
}
