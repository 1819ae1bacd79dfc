import { type Bars, barCount, countUntil, sliceBars, timeAt } from '../../core/bars/bar.ts'
import type { AddressedBars } from './addressed-bars.ts'
import type { CollectedSeries } from './collected-series.ts'

/** What is new, and corrections of what was sent before. */
export interface Routed {
  readonly fresh: readonly AddressedBars[]
  readonly corrections: readonly AddressedBars[]
}

/** Which of a series' closed bars go out live, and which with the history: corrections are never pushed. */
export function route(series: CollectedSeries, bars: Bars, outgoing: (bars: Bars) => AddressedBars): Routed {
  const count = barCount(bars)
  const start = countUntil(bars, series.sentUntil)
  const of = (from: number, to: number): AddressedBars[] =>
    from === to ? [] : [outgoing(sliceBars(bars, from, to))]
  const routed = { corrections: of(0, start), fresh: of(start, count) }
  if (start < count) series.sentUntil = timeAt(bars, count - 1)
  return routed
}
