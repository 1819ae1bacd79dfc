import { allocateBars, type Bars, sliceBars } from '../../../core/bars/bar.ts'
import { Fields, longAt } from '../pg/fields.ts'

/** The columns of a bar in the order of the statements: eight columns of eight bytes. */
export const barColumns = 'ts::long, rev, taken, o, h, l, c, v'
const fieldBytes = 12
const wholeRowBytes = 8 * fieldBytes
const valueOffset = 4
const microsPerSecond = 1_000_000

/**
 * Collects rows in ascending or descending order of time into ascending columns. Of several rows with one time it
 * keeps the greatest revision and, of equal revisions, the smallest `taken`.
 */
export class BarPage {
  readonly #bars: Bars
  readonly #step: 1 | -1
  readonly #begin: number
  #at: number
  #taken = Number.NaN
  /** Rows seen, whether kept or not. */
  rows = 0
  /** Rows without a price or a volume, which fxd never writes; they are left out. */
  broken = 0

  constructor(rowsMax: number, order: 'ascending' | 'descending') {
    this.#bars = allocateBars(rowsMax)
    this.#step = order === 'ascending' ? 1 : -1
    this.#begin = order === 'ascending' ? 0 : rowsMax - 1
    this.#at = this.#begin - this.#step
  }

  /** Different times so far. */
  get count(): number {
    return Math.abs(this.#at - this.#begin + this.#step)
  }

  /** The time of the last row; NaN before the first. */
  get lastTime(): number {
    return this.count === 0 ? Number.NaN : (this.#bars.time[this.#at] as number)
  }

  take(view: DataView, start: number, end: number): void {
    this.rows += 1
    if (end - start !== wholeRowBytes) return this.#takeOdd(view, start)
    const at = start + valueOffset
    const time = longAt(view, at) / microsPerSecond
    const revision = longAt(view, at + fieldBytes)
    const taken = longAt(view, at + 2 * fieldBytes)
    if (!this.#makePlace(time, revision, taken)) return
    const to = this.#at
    const bars = this.#bars
    bars.open[to] = view.getFloat64(at + 3 * fieldBytes)
    bars.high[to] = view.getFloat64(at + 4 * fieldBytes)
    bars.low[to] = view.getFloat64(at + 5 * fieldBytes)
    bars.close[to] = view.getFloat64(at + 6 * fieldBytes)
    bars.volume[to] = longAt(view, at + 7 * fieldBytes)
  }

  /** A row with a NULL is shorter than others. */
  #takeOdd(view: DataView, start: number): void {
    const fields = new Fields(view, start)
    const [time, revision, taken] = [fields.long() / microsPerSecond, fields.long(), fields.long()]
    const [open, high, low, close] = [fields.double(), fields.double(), fields.double(), fields.double()]
    const volume = fields.long()
    if ([time, revision, taken, open, high, low, close, volume].some(Number.isNaN)) {
      this.broken += 1
      return
    }
    if (!this.#makePlace(time, revision, taken)) return
    const to = this.#at
    this.#bars.open[to] = open
    this.#bars.high[to] = high
    this.#bars.low[to] = low
    this.#bars.close[to] = close
    this.#bars.volume[to] = volume
  }

  /** Moves `#at` to the position of the row. Returns `false` when another row with its time is kept. */
  #makePlace(time: number, revision: number, taken: number): boolean {
    const { time: times, revision: revisions } = this.#bars
    if (times[this.#at] === time && this.count > 0) {
      const other = revisions[this.#at] as number
      if (other > revision || (other === revision && this.#taken <= taken)) return false
    } else this.#at += this.#step
    times[this.#at] = time
    revisions[this.#at] = revision
    this.#taken = taken
    return true
  }

  /** Removes the row of the last time: the page may lack other rows with this time. */
  dropLast(): void {
    if (this.count > 0) this.#at -= this.#step
  }

  /** At most `countMax` bars from the first rows that were collected; ascending, in their own memory. */
  bars(countMax = Number.POSITIVE_INFINITY): Bars {
    const count = Math.min(countMax, this.count)
    return this.#step === 1
      ? sliceBars(this.#bars, 0, count)
      : sliceBars(this.#bars, this.#begin + 1 - count, this.#begin + 1)
  }
}
