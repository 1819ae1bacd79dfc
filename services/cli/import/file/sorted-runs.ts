import type { FileHandle } from 'node:fs/promises'
import { allocateBars, type Bars, barCount, columns, sliceBars } from '../../../core/bars/bar.ts'
import { onDisk, openNameless } from './temporary-file.ts'

const use = "The file's lines do not ascend and are sorted"
const bytesPerBar = columns.length * Float64Array.BYTES_PER_ELEMENT

/** Ascending runs of bars in one temporary file without a name, so that no file is left. */
export class SortedRuns {
  readonly #file: FileHandle
  readonly #blockBars: number
  readonly #runs: Run[] = []
  #bytes = 0

  private constructor(file: FileHandle, blockBars: number) {
    this.#file = file
    this.#blockBars = blockBars
  }

  static async create(blockBars: number): Promise<SortedRuns> {
    return new SortedRuns(await onDisk(use, openNameless), blockBars)
  }

  get count(): number {
    return this.#runs.length
  }

  /** Adds a run. Bars ascend, each time once. */
  async add(bars: Bars): Promise<void> {
    this.#runs.push(new Run(this.#file, this.#bytes, barCount(bars), this.#blockBars))
    for (let at = 0; at < barCount(bars); at += this.#blockBars) {
      const block = packed(sliceBars(bars, at, Math.min(at + this.#blockBars, barCount(bars))))
      await onDisk(use, () => writeAll(this.#file, block, this.#bytes))
      this.#bytes += block.byteLength
    }
  }

  /** Merges all runs, ascending. Of bars with one time the greatest revision is kept; the others are counted. */
  async *merge(onDuplicates: (count: number) => void): AsyncGenerator<Bars> {
    for (const run of this.#runs) await run.load()
    let out = allocateBars(this.#blockBars)
    let filled = 0
    for (let next = await this.#next(onDuplicates); next; next = await this.#next(onDuplicates)) {
      const { run, until } = next
      while (run.time < until) {
        run.copyTo(out, filled++)
        if (filled === this.#blockBars) {
          yield out
          out = allocateBars(this.#blockBars)
          filled = 0
        }
        if (run.advance()) await run.load()
      }
    }
    if (filled > 0) yield sliceBars(out, 0, filled)
  }

  /** Returns the run with the earliest bar, and the time until which no other run has an earlier one. */
  async #next(onDuplicates: (count: number) => void): Promise<{ run: Run; until: number } | undefined> {
    let first: Run | undefined
    for (const run of this.#runs) {
      if (run.time === Number.POSITIVE_INFINITY) continue
      if (!first || run.time < first.time || (run.time === first.time && run.revision > first.revision))
        first = run
    }
    if (first === undefined) return undefined
    let until = Number.POSITIVE_INFINITY
    for (const run of this.#runs) {
      if (run === first) continue
      if (run.time === first.time) {
        onDuplicates(1)
        if (run.advance()) await run.load()
      }
      until = Math.min(until, run.time)
    }
    return { run: first, until }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

/** Reads one run block by block. */
class Run {
  readonly #file: FileHandle
  readonly #blockBars: number
  #offset: number
  #left: number
  #block: Bars = allocateBars(0)
  #at = 0

  constructor(file: FileHandle, offset: number, count: number, blockBars: number) {
    this.#file = file
    this.#offset = offset
    this.#left = count
    this.#blockBars = blockBars
  }

  /** Time of the next bar; infinite at the end of the run. */
  get time(): number {
    return this.#block.time[this.#at] ?? Number.POSITIVE_INFINITY
  }

  get revision(): number {
    return this.#block.revision[this.#at] as number
  }

  copyTo(out: Bars, index: number): void {
    for (const column of columns) out[column][index] = this.#block[column][this.#at] as number
  }

  /** Moves to the next bar; `true`: call `load` before the next access. */
  advance(): boolean {
    return ++this.#at === barCount(this.#block)
  }

  async load(): Promise<void> {
    const count = Math.min(this.#left, this.#blockBars)
    const bytes = Buffer.alloc(count * bytesPerBar)
    await onDisk(use, () => readAll(this.#file, bytes, this.#offset))
    this.#offset += bytes.length
    this.#left -= count
    this.#block = unpacked(bytes, count)
    this.#at = 0
  }
}

function packed(bars: Bars): Uint8Array {
  const count = barCount(bars)
  const all = new Float64Array(count * columns.length)
  columns.forEach((column, i) => all.set(bars[column], i * count))
  return new Uint8Array(all.buffer)
}

function unpacked(bytes: Buffer, count: number): Bars {
  const bars = allocateBars(count)
  columns.forEach((column, i) => {
    bars[column].set(
      new Float64Array(bytes.buffer, bytes.byteOffset + i * count * Float64Array.BYTES_PER_ELEMENT, count),
    )
  })
  return bars
}

/** Repeats short writes: a nearly full disk may write fewer bytes and report the error only at the next write. */
async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, offset + at)).bytesWritten
  }
}

async function readAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, offset + at)
    if (bytesRead === 0) throw new Error('the temporary file ended early')
    at += bytesRead
  }
}
