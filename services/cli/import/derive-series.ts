import { UnstoredSpans } from '../../collector/series/unstored-spans.ts'
import { type Bars, barCount, noBars, pickBars, timeAt } from '../../core/bars/bar.ts'
import { anyOverlaps } from '../../core/bars/coverage.ts'
import { bucketOpen, createFold, type Fold } from '../../core/bars/derive.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../core/feeds/resolution.ts'
import { type FileTimes, isWhole } from './file/file-times.ts'
import type { SeriesSender } from './send-series.ts'

interface Derived {
  readonly resolution: Resolution
  readonly fold: Fold
  readonly sender: SeriesSender
  /** Opens of buckets whose first minutes the file lacks, or that have a refused line. */
  readonly parts: Set<number>
}

/** Derived bars that are not sent because the file lacks their first minutes, or because a line of them was refused. */
export interface LeftOut {
  readonly incomplete: number
  /** Open times of the first left-out bars, on the feed's clock; at most `leftOutKept`. */
  readonly incomplete_from: readonly number[]
}

const leftOutKept = 100
/** Maximum separate times of refused lines; above it all times from the first to the last count as refused. */
const refusedTimesMax = 10_000

interface DeriveOptions extends FileTimes {
  /** Maximum seconds between two bars; a longer time is a gap in the coverage. */
  readonly maxGapSeconds: number
  readonly delaySeconds: number
}

/** Folds the M1 bars of a file, given in ascending pieces, and sends derived bars that are whole and closed. */
export class DerivedSeries {
  readonly #options: DeriveOptions
  readonly #all: readonly Derived[]
  readonly #refused = new UnstoredSpans('1', refusedTimesMax)
  #newest = Number.NEGATIVE_INFINITY

  constructor(senders: ReadonlyMap<Resolution, SeriesSender>, options: DeriveOptions) {
    this.#options = options
    this.#all = [...senders].map(([resolution, sender]) => ({
      resolution,
      sender,
      fold: createFold(resolution),
      parts: new Set(),
    }))
  }

  /** Called for the times of refused lines, before `add` has a later line. */
  refuse(spans: readonly Span[]): void {
    if (this.#all.length > 0) this.#refused.addSpans(spans)
  }

  async add(m1: Bars): Promise<void> {
    if (this.#all.length === 0) return
    this.#noteParts(m1)
    // In a file that does not ascend another line may have the minute of a refused one.
    this.#refused.fill(m1)
    for (const derived of this.#all) await derived.sender.add(this.#wholeOf(derived, derived.fold.push(m1)))
  }

  /** Returns the bars whose minutes are all there, and notes the others. */
  #wholeOf({ resolution, parts }: Derived, bars: Bars): Bars {
    const { spans } = this.#refused
    for (let i = 0; spans.length > 0 && i < barCount(bars); i++) {
      const open = timeAt(bars, i)
      if (anyOverlaps(spans, { from: open, to: barEnd(open, resolution) })) parts.add(open)
    }
    return parts.size === 0 ? bars : pickBars(bars, (i) => !parts.has(bars.time[i] as number))
  }

  async end(): Promise<void> {
    for (const derived of this.#all) {
      const { resolution, fold, sender } = derived
      const last = fold.end()
      const isOver = barCount(last) > 0 && isWhole(timeAt(last, 0), resolution, this.#options)
      const rest = isOver ? this.#wholeOf(derived, last) : noBars
      await sender.add(rest)
      await sender.end()
      if (barCount(rest) > 0) this.#leaveUnclaimed(rest, resolution, sender)
    }
  }

  /** No window claims a last bar that ends after the file: the next file may have its last minutes. */
  #leaveUnclaimed(last: Bars, resolution: Resolution, sender: SeriesSender): void {
    const from = timeAt(last, 0)
    const to = barEnd(from, resolution)
    if (barEnd(feedSeconds(this.#newest), '1') < to) sender.holes.addSpans([{ from, to }])
  }

  /** Returns the bars of one resolution that were left out; call it after `end`. */
  leftOut(resolution: Resolution): LeftOut {
    const parts = this.#all.find((each) => each.resolution === resolution)?.parts ?? new Set()
    return { incomplete: parts.size, incomplete_from: [...parts].slice(0, leftOutKept) }
  }

  #noteParts(m1: Bars): void {
    for (let i = 0; i < barCount(m1); i++) {
      const time = m1.time[i] as number
      if (time - this.#newest > this.#options.maxGapSeconds) this.#noteStart(time)
      this.#newest = time
    }
  }

  #noteStart(time: number): void {
    for (const { resolution, parts } of this.#all) {
      const open = bucketOpen(feedSeconds(time), resolution)
      if (open < time && open > this.#newest) parts.add(open)
    }
  }
}

/** The buckets of a longer resolution that have a minute of this span. */
export const bucketsOf = ({ from, to }: Span, r: Resolution): Span => ({
  from: bucketOpen(from, r),
  to: barEnd(bucketOpen(feedSeconds(to - 1), r), r),
})
