import { noBars } from '../../../core/bars/bar.ts'
import { bucketOpen, createFold } from '../../../core/bars/derive.ts'
import { mergeBars } from '../../../core/bars/revision.ts'
import type { Span } from '../../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../../core/feeds/resolution.ts'
import type { TerminalBar, TerminalSeries } from '../../../core/terminal/lines.ts'
import { within } from '../../series/bar-spans.ts'
import { type RawSeriesId, rawSeriesId } from '../../series/series-id.ts'
import type { WantAnswer } from './wants.ts'

/** MetaTrader 4 has no bars of these resolutions: they are folded from the finer ones. */
const finer: ReadonlyMap<Resolution, Resolution> = new Map([
  ['10', '5'],
  ['120', '60'],
])
const longer = new Map([...finer].map(([long, short]) => [short, long]))

export const mt4FinerOf = (r: Resolution): Resolution | undefined => finer.get(r)
export const mt4LongerOf = (r: Resolution): Resolution | undefined => longer.get(r)

/** The first bar at or after this time opens here. */
const nextOpen = (time: FeedSeconds, r: Resolution): FeedSeconds => {
  const open = bucketOpen(time, r)
  return open < time ? barEnd(open, r) : open
}

/** The times of the finer bars from which the longer bars that open in the span are folded. */
export const finerSpan = ({ from, to }: Span, r: Resolution): Span => ({
  from: nextOpen(from, r),
  to: nextOpen(to, r),
})

/** The longer bars that open in the span, if the terminal gave all their finer bars. */
export function foldAnswer({ bars, complete }: WantAnswer, wanted: Span, r: Resolution): WantAnswer {
  if (!complete) return { bars: noBars }
  const given = { from: nextOpen(complete.from, r), to: bucketOpen(complete.to, r) }
  const fold = createFold(r)
  const folded = within(mergeBars(fold.push(within(bars, given)), fold.end()), wanted)
  const from = given.from <= nextOpen(wanted.from, r) ? wanted.from : given.from
  const to = feedSeconds(Math.min(given.to, wanted.to))
  return { bars: folded, ...(from < to && { complete: { from, to } }) }
}

interface Bucket {
  readonly open: FeedSeconds
  readonly parts: Map<FeedSeconds, TerminalBar>
}

interface Derived {
  /** Bars from here on are all reported; `undefined`: from the first bucket that is seen to begin. */
  readonly from: FeedSeconds | undefined
  bucket?: Bucket
}

/** Bars of one series, ascending. */
export interface SweptGroup {
  readonly series: TerminalSeries
  readonly bars: readonly TerminalBar[]
  /** Whether the last bar may still be forming. */
  readonly lastIsOpen: boolean
}

/** Folds the bars of sweeps into the longer bars that the terminal lacks. */
export class DerivedBars {
  readonly #series = new Map<RawSeriesId, Derived>()

  /** A sweep of this finer series begins. `from`: the open of a longer bar, or `undefined`. */
  begin(series: TerminalSeries, from: FeedSeconds | undefined): void {
    this.#series.set(rawSeriesId(series), { from })
  }

  /** The longer bars as far as the finer ones show them; a correction of a longer bar that is over is not derived. */
  take(of: TerminalSeries, bars: readonly TerminalBar[], lastIsOpen: boolean): SweptGroup | undefined {
    const resolution = mt4LongerOf(of.resolution)
    const state = this.#series.get(rawSeriesId(of))
    if (!resolution || !state) return undefined
    const folded: TerminalBar[] = []
    for (const bar of bars) {
      const open = bucketOpen(bar.time, resolution)
      if (!state.bucket && open < (state.from ?? bar.time)) continue
      if (state.bucket && open > state.bucket.open) folded.push(foldBucket(state.bucket))
      if (!state.bucket || open > state.bucket.open) state.bucket = { open, parts: new Map() }
      if (open === state.bucket.open) state.bucket.parts.set(bar.time, bar)
    }
    if (!state.bucket) return undefined
    folded.push(foldBucket(state.bucket))
    const last = bars.at(-1)
    const isOver =
      !lastIsOpen &&
      last !== undefined &&
      barEnd(last.time, of.resolution) >= barEnd(state.bucket.open, resolution)
    return { series: { raw: of.raw, resolution }, bars: folded, lastIsOpen: !isOver }
  }
}

function foldBucket({ open: time, parts }: Bucket): TerminalBar {
  const bars = [...parts.values()].sort((a, b) => a.time - b.time)
  const [first, last] = [bars[0] as TerminalBar, bars.at(-1) as TerminalBar]
  const greatest = (a: string, b: string): string => (Number(b) > Number(a) ? b : a)
  const least = (a: string, b: string): string => (Number(b) < Number(a) ? b : a)
  return {
    time,
    open: first.open,
    high: bars.map(({ high }) => high).reduce(greatest),
    low: bars.map(({ low }) => low).reduce(least),
    close: last.close,
    volume: bars.reduce((sum, { volume }) => sum + volume, 0),
  }
}
