import { allocateBars, type Bars, barCount, columns, sliceBars } from '../../../core/bars/bar.ts'
import type { Series, SeriesBars } from '../../../core/bars/series.ts'

/**
 * A stored bar is one body of seven doubles in the order of `columns`. So SQLite returns a whole read as one blob.
 * Seven REAL columns cost a call into the engine each: a read of 10,000 bars took 4.9 ms instead of 2 ms.
 * Doubles are in the machine's byte order, which is little-endian wherever Node runs today.
 */
export const fieldsPerRow = columns.length
export const bytesPerRow = fieldsPerRow * Float64Array.BYTES_PER_ELEMENT
export const timeField = columns.indexOf('time')
export const revisionField = columns.indexOf('revision')

/**
 * Rows of one or more series in sequence. The writer thread reads the same memory: it is not copied, and the rows are
 * still here when they must be sent again.
 */
export interface PackedRows {
  readonly parts: readonly { readonly series: Series; readonly count: number }[]
  readonly count: number
  readonly fields: Float64Array<SharedArrayBuffer>
}

/** Copies a batch into pieces of at most `rowsMax` rows; the caller's columns are not changed. */
export function packRows(batch: readonly SeriesBars[], rowsMax: number): PackedRows[] {
  let left = batch.reduce((sum, { bars }) => sum + barCount(bars), 0)
  const pieces: PackedRows[] = []
  let piece = emptyPiece(Math.min(left, rowsMax))
  for (const { series, bars } of batch) {
    const count = barCount(bars)
    for (let start = 0; start < count; ) {
      const end = Math.min(count, start + rowsMax - piece.count)
      const to = piece.fields.subarray(piece.count * fieldsPerRow)
      copyRows({ series, bars: sliceBars(bars, start, end) }, to)
      piece.parts.push({ series, count: end - start })
      piece.count += end - start
      left -= end - start
      start = end
      if (piece.count < rowsMax && left > 0) continue
      pieces.push(piece)
      piece = emptyPiece(Math.min(left, rowsMax))
    }
  }
  return pieces
}

const emptyPiece = (rows: number) => ({
  parts: [] as { series: Series; count: number }[],
  count: 0,
  fields: new Float64Array(new SharedArrayBuffer(rows * bytesPerRow)),
})

function copyRows({ series, bars }: SeriesBars, fields: Float64Array): void {
  const { time, open, high, low, close, volume, revision } = bars
  for (let i = 0, f = 0; i < time.length; i++, f += fieldsPerRow) {
    if (!Number.isSafeInteger(time[i]) || !Number.isSafeInteger(revision[i])) throw unfit(series, bars, i)
    fields[f] = time[i] as number
    fields[f + 1] = open[i] as number
    fields[f + 2] = high[i] as number
    fields[f + 3] = low[i] as number
    fields[f + 4] = close[i] as number
    fields[f + 5] = volume[i] as number
    fields[f + 6] = revision[i] as number
  }
}

/** A defect of the caller. It must not reach the file, where it would also fail other rows. */
const unfit = ({ symbol, resolution }: Series, { time, revision }: Bars, i: number): RangeError =>
  new RangeError(
    `A bar of ${symbol} at ${resolution} has time ${time[i]} and revision ${revision[i]}; both must be integers.`,
  )

/** Columns of the rows in `pages`, which are ascending or, with `reversed`, descending as a whole. */
export function unpackRows(pages: readonly Float64Array[], reversed: boolean): Bars {
  const total = pages.reduce((sum, page) => sum + page.length, 0) / fieldsPerRow
  const bars = allocateBars(total)
  const { time, open, high, low, close, volume, revision } = bars
  const step = reversed ? -1 : 1
  let to = reversed ? total - 1 : 0
  for (const fields of pages) {
    for (let f = 0; f < fields.length; f += fieldsPerRow, to += step) {
      time[to] = fields[f] as number
      open[to] = fields[f + 1] as number
      high[to] = fields[f + 2] as number
      low[to] = fields[f + 3] as number
      close[to] = fields[f + 4] as number
      volume[to] = fields[f + 5] as number
      revision[to] = fields[f + 6] as number
    }
  }
  return bars
}
