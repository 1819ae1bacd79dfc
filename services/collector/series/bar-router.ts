import { type Bars, barCount, countUntil, pickBars, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { clockStepSecondsMax } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Log } from '../../platform/log/log.ts'
import { barsAboveScale } from '../../wire/bars-above-scale.ts'
import type { CollectedSeries } from './collected-series.ts'
import { derivedRevision, type Revisions } from './revisions.ts'

export interface OutgoingBars {
  /** Clean name. */
  readonly symbol: string
  readonly resolution: Resolution
  readonly scale: number
  /** Ascending, with their revisions. */
  readonly bars: Bars
}

export interface PreparedBars extends OutgoingBars {
  readonly series: CollectedSeries
}

/** Bars for the live lane, and for the backfill lane. */
export interface Routed {
  readonly fresh: readonly PreparedBars[]
  readonly corrections: readonly PreparedBars[]
}

export class BarRouter {
  readonly #deps: { readonly revisions: Revisions; readonly log: Log }

  constructor(deps: { readonly revisions: Revisions; readonly log: Log }) {
    this.#deps = deps
  }

  /** Sets clean name, scale and revision; drops bars with too many decimals. */
  prepare(series: CollectedSeries, given: Bars, derived: boolean): PreparedBars {
    const { revisions, log } = this.#deps
    const { name: symbol, resolution, scale } = series
    const tooPrecise = new Set(barsAboveScale(given, scale))
    if (tooPrecise.size > 0) {
      log.warn(
        { symbol, resolution, scale, bars: tooPrecise.size },
        'bars dropped: their prices have more decimals than the scale',
      )
      series.unstored.add(pickBars(given, (i) => tooPrecise.has(i)))
    }
    const bars = tooPrecise.size === 0 ? given : pickBars(given, (i) => !tooPrecise.has(i))
    const stamp = derived ? derivedRevision : revisions.next({ symbol, resolution })
    const revision = new Float64Array(barCount(bars)).fill(stamp)
    return { series, symbol, resolution, scale, bars: { ...bars, revision } }
  }

  /**
   * Splits a series' closed bars into new ones, for the live lane, and corrections, for the backfill lane. `isReport`: a
   * source that watches its terminal reported them now. The last of them shows that the feed is live. So it goes on the
   * live lane also after the broker has set its clock back: ingest then stores it and does not push it.
   */
  route(series: CollectedSeries, bars: Bars, derived = false, isReport = false): Routed {
    const count = barCount(bars)
    const { sentUntil } = series
    const isLive = isReport && count > 0 && sentUntil - timeAt(bars, count - 1) <= clockStepSecondsMax
    const start = Math.min(countUntil(bars, sentUntil), isLive ? count - 1 : count)
    const of = (from: number, to: number): PreparedBars[] =>
      from === to ? [] : [this.prepare(series, sliceBars(bars, from, to), derived)]
    const routed = { corrections: of(0, start), fresh: of(start, count) }
    if (start < count) series.sentUntil = Math.max(sentUntil, timeAt(bars, count - 1))
    return routed
  }
}
