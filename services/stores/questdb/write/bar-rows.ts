import type { Bars } from '../../../core/bars/bar.ts'
import type { SeriesBars } from '../../../core/bars/series.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { nameOf } from '../layout/tables.ts'
import { type EncodedRows, rowsPerPiece } from './rows.ts'

export interface TableBars extends SeriesBars {
  readonly table: string
}

const microsPerSecond = 1_000_000
/** Maximum bytes of a row without its table and its symbol. */
const columnBytesMax = 256
/** Maximum UTF-8 bytes of one unit of a string. */
const unitBytesMax = 3

/** A double in protocol version 2: a prefix of 2 bytes, then 8 placeholders for its little-endian bytes. */
const double = '=\x10........'
const prices = `o=${double},h=${double},l=${double},c=${double}`
/** From one double of a row to the next. */
const doubleStep = `,h=${double}`.length

/**
 * Encodes bars in the server's line protocol, version 2, with the same bytes as the library. The library checks and
 * escapes all names in every row, at more than three times the cost.
 */
export class BarRows {
  readonly #pieces: EncodedRows[] = []
  #bytes = Buffer.allocUnsafe(16_384)
  #view = viewOf(this.#bytes)
  #ends: number[] = []
  #end = 0
  #table = ''
  #feed: FeedKey | undefined

  /**
   * Adds the bars of one series, which passed `refuseUnfit`. Series of one table must be adjacent. `table` is one of
   * `TableNames`, which need no escape.
   */
  add({ table, series, bars }: TableBars, nextTaken: () => number): void {
    if (table !== this.#table) this.#cut()
    this.#table = table
    this.#feed = series.feed
    const head = `${table},sym=${escaped(nameOf(series))} rev=`
    for (let i = 0; i < bars.time.length; i++) {
      this.#addRow(head, bars, i, nextTaken())
      if (this.#ends.length >= rowsPerPiece) this.#cut()
    }
  }

  pieces(): readonly EncodedRows[] {
    this.#cut()
    return this.#pieces
  }

  #addRow(
    head: string,
    { time, open, high, low, close, volume, revision }: Bars,
    i: number,
    taken: number,
  ): void {
    const start = this.#end
    this.#reserve(start + head.length * unitBytesMax + columnBytesMax)
    const rest = `,v=${volume[i]}i ${(time[i] as number) * microsPerSecond}t\n`
    // One write per row: a call costs more than the bytes.
    const end = start + this.#bytes.write(`${head}${revision[i]}i,taken=${taken}i,${prices}${rest}`, start)
    const last = end - rest.length - Float64Array.BYTES_PER_ELEMENT
    this.#view.setFloat64(last - 3 * doubleStep, open[i] as number, true)
    this.#view.setFloat64(last - 2 * doubleStep, high[i] as number, true)
    this.#view.setFloat64(last - doubleStep, low[i] as number, true)
    this.#view.setFloat64(last, close[i] as number, true)
    this.#ends.push(end)
    this.#end = end
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * length)
    this.#bytes.copy(larger)
    this.#bytes = larger
    this.#view = viewOf(larger)
  }

  #cut(): void {
    if (this.#ends.length === 0) return
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#end))
    const ends = this.#ends
    this.#pieces.push({ table: this.#table, feed: this.#feed, rows: ends.length, bytes, ends })
    this.#ends = []
    this.#end = 0
  }
}

/** As the library escapes symbols. */
const escaped = (name: string): string => name.replace(/[ ,=\n\r\\]/g, '\\$&')

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView =>
  new DataView(buffer, byteOffset, byteLength)
