import type { BitMatrix } from './bit-matrix.ts'
import type { BarList, Burst } from './burst.ts'
import { header } from './frame.ts'
import { WriteMemory } from './write-memory.ts'

/** Maximum bars of one frame. */
export const barsPerFrameMax = 1_000

/** A part of a list that one socket gets as one frame. */
interface FrameOfBars {
  readonly list: BarList
  readonly symbols: Uint32Array
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
    const count = this.#matrix.common(row, { mask, words }, this.#found)
    if (count === 0) return undefined
    const symbols = this.#found.subarray(0, count)
    const frames = this.#memory.take(lengthOf(bytes, symbols))
    copy(bytes, symbols, frames, 0)
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
        parts.push(frameOf(list, this.#found.subarray(from, Math.min(count, from + barsPerFrameMax))))
    }
    if (parts.length === 0) return undefined
    const frames = this.#memory.take(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) at = copyFrame(part, frames, at)
    return frames
  }
}

function frameOf(list: BarList, symbols: Uint32Array): FrameOfBars {
  // The comma behind the last bar gives way to the two characters of the end.
  const payload = list.prefix.length + lengthOf(list.entries.bytes, symbols) + 1
  const beginning = header(payload)
  return { list, symbols, header: beginning, length: beginning.length + payload }
}

/** Returns the place behind the copied bytes, as `copy` does. */
function copyFrame({ list, symbols, header: beginning }: FrameOfBars, into: Buffer, start: number): number {
  const at = start + into.write(beginning, start, 'latin1')
  into.set(list.prefix, at)
  const end = copy(list.entries.bytes, symbols, into, at + list.prefix.length)
  return end - 1 + into.write(']}', end - 1, 'latin1')
}

function lengthOf(bytes: readonly Uint8Array[], symbols: Uint32Array): number {
  let length = 0
  for (const symbol of symbols) length += (bytes[symbol] as Uint8Array).length
  return length
}

function copy(bytes: readonly Uint8Array[], symbols: Uint32Array, into: Buffer, start: number): number {
  let at = start
  for (const symbol of symbols) {
    const each = bytes[symbol] as Uint8Array
    into.set(each, at)
    at += each.length
  }
  return at
}
