import { type Bars, barCount, countUntil, pickBars, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { subtractSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'

/** Returns the bars that open in the span. Bars ascend. */
export const within = (bars: Bars, { from, to }: Span): Bars =>
  sliceBars(bars, countUntil(bars, from - 1), countUntil(bars, to - 1))

/** Returns the bars that open in none of the spans. Bars ascend. */
export function outside(bars: Bars, spans: readonly Span[]): Bars {
  if (barCount(bars) === 0 || spans.length === 0) return bars
  const whole = { from: timeAt(bars, 0), to: feedSeconds(timeAt(bars, barCount(bars) - 1) + 1) }
  const missing = subtractSpans([whole], spans)
  return pickBars(bars, (i) =>
    missing.some(({ from, to }) => timeAt(bars, i) >= from && timeAt(bars, i) < to),
  )
}

/** The part of the spans whose bars open at `last` or before. */
export const upTo = (last: number, spans: readonly Span[]): Span[] =>
  spans.flatMap(({ from, to }) => (from <= last ? [{ from, to: feedSeconds(Math.min(to, last + 1)) }] : []))
