import type { BitMatrix } from './bit-matrix.ts'
import type { BarList, Burst } from './burst.ts'
import { header } from './frame.ts'
import { WriteMemory } from './write-memory.ts'

/** Maximum bars of one frame. */
export const barsPerFrameMax = 1_000

/** A part of a list that one socket gets as one frame: places in the found symbols. */
interface FrameOfBars {
  readonly list: BarList
  readonly from: number
  readonly to: number
  readonly header: string
  readonly length: number
}

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
  single(row: number, { frames: { mask, words, bytes } }: Burst): Buffer | undefined {
    const found = this.#found
    const count = this.#matrix.common(row, { mask, words }, found)
    if (count === 0) return undefined
    const size = lengthOf(bytes, found, 0, count)
    const frames = this.#memory.take(size)
    copy(bytes, found, 0, count, frames, 0)
    return frames
  }

  /** Frames with many bars, each of one feed and one time; `undefined` if the socket gets none. */
  joined(row: number, { lists }: Burst): Buffer | undefined {
    const parts: FrameOfBars[] = []
    let count = 0
    for (const list of lists) {
      const before = count
      count = this.#matrix.common(row, list.entries, this.#found, before)
      for (let from = before; from < count; from += barsPerFrameMax)
        parts.push(this.#frame(list, from, Math.min(count, from + barsPerFrameMax)))
    }
    if (parts.length === 0) return undefined
    const frames = this.#memory.take(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) at = this.#copy(part, frames, at)
    return frames
  }

  #frame(list: BarList, from: number, to: number): FrameOfBars {
    // The comma behind the last bar gives way to the two characters of the end.
    const payload = list.prefix.length + lengthOf(list.entries.bytes, this.#found, from, to) + 1
    const beginning = header(payload)
    return { list, from, to, header: beginning, length: beginning.length + payload }
  }

  #copy({ list, from, to, header: beginning }: FrameOfBars, into: Buffer, start: number): number {
    let at = start + into.write(beginning, start, 'latin1')
    into.set(list.prefix, at)
    at = copy(list.entries.bytes, this.#found, from, to, into, at + list.prefix.length)
    return at - 1 + into.write(']}', at - 1, 'latin1')
  }
}

function lengthOf(bytes: readonly Uint8Array[], found: Uint32Array, from: number, to: number): number {
  let length = 0
  for (let i = from; i < to; i++) length += (bytes[found[i] as number] as Uint8Array).length
  return length
}

/** Returns the place behind the copied bytes. */
function copy(
  bytes: readonly Uint8Array[],
  found: Uint32Array,
  from: number,
  to: number,
  into: Buffer,
  start: number,
): number {
  let at = start
  for (let i = from; i < to; i++) {
    const each = bytes[found[i] as number] as Uint8Array
    into.set(each, at)
    at += each.length
  }
  return at
}
