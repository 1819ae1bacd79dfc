import { type Bars, barCount, countUntil, selectBars, sliceBars, timeAt } from '../../core/bars/bar.ts'
import type { Log } from '../../platform/log/log.ts'
import { beyondScale } from '../../wire/beyond-scale.ts'
import type { OutgoingBars } from '../connection/pack-bars.ts'
import type { CollectedSeries } from './collected-series.ts'
import { derivedRevision, type Stamps } from './stamps.ts'

/** Bars ready for the wire, and the series that they are of. */
export interface PreparedBars extends OutgoingBars {
  readonly series: CollectedSeries
}

/** Makes of bars as a source gave them bars for the wire: under their clean name, scaled, with a revision of this reading. */
export const barPreparer =
  ({ stamps, log }: { readonly stamps: Stamps; readonly log: Log }) =>
  (series: CollectedSeries, given: Bars, derived: boolean): PreparedBars => {
    const { name: symbol, resolution, scale } = series
    const tooPrecise = new Set(beyondScale(given, scale))
    if (tooPrecise.size > 0) {
      const why = `prices with more than ${scale} decimals are not sent`
      log.warn({ symbol, resolution, bars: tooPrecise.size }, why)
      series.holes.add(selectBars(given, (i) => tooPrecise.has(i)))
    }
    const bars = tooPrecise.size === 0 ? given : selectBars(given, (i) => !tooPrecise.has(i))
    const stamp = derived ? derivedRevision : stamps.next({ symbol, resolution })
    const revision = new Float64Array(barCount(bars)).fill(stamp)
    return { series, symbol, resolution, scale, bars: { ...bars, revision } }
  }

/** What is new, and corrections of what was sent before. */
export interface Routed {
  readonly fresh: readonly PreparedBars[]
  readonly corrections: readonly PreparedBars[]
}

/** Which of a series' closed bars go out live, and which with the history: corrections are never pushed. */
export function route(series: CollectedSeries, bars: Bars, prepare: (bars: Bars) => PreparedBars): Routed {
  const count = barCount(bars)
  const start = countUntil(bars, series.sentUntil)
  const of = (from: number, to: number): PreparedBars[] =>
    from === to ? [] : [prepare(sliceBars(bars, from, to))]
  const routed = { corrections: of(0, start), fresh: of(start, count) }
  if (start < count) series.sentUntil = timeAt(bars, count - 1)
  return routed
}
