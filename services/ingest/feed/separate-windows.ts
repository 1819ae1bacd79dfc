import { joinSpans, withTouching } from '../../core/bars/coverage.ts'
import { bySeries, onGrid, type Span, type Window, windowSeriesId } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'

/** Number of separate windows above which a series is named in the log and by `fxd feeds show`. */
export const manyWindows = 100

/** The windows of one symbol, or of all symbols of the feed, at one resolution. */
export interface SeriesSpans {
  readonly symbol: CompoundKey | undefined
  readonly resolution: Resolution
  /** Joined and ascending, with ends on the grid. */
  readonly spans: readonly Span[]
}

export type SinceOf = (symbol: CompoundKey) => FeedSeconds | undefined

/**
 * Stored windows of a feed by `windowSeriesId`, with what they touch. Releases before this one stored them as collectors sent
 * them: with any ends, and one for each session between feed-wide windows.
 */
export function separateWindows(windows: readonly Window[], sinceOf: SinceOf): Map<string, SeriesSpans> {
  const series = new Map<string, SeriesSpans>()
  for (const [id, list] of bySeries(windows)) {
    const [{ symbol, resolution }] = list as [Window, ...Window[]]
    series.set(id, { symbol, resolution, spans: joinSpans(list.map((span) => onGrid(resolution, span))) })
  }
  for (const [id, { symbol, resolution, spans }] of series) {
    const feedWide = symbol && series.get(windowSeriesId({ symbol: undefined, resolution }))?.spans
    if (symbol === undefined || feedWide === undefined) continue
    const since = sinceOf(symbol)
    const grown = joinSpans(spans.map((span) => withTouching(span, feedWide, since)))
    series.set(id, { symbol, resolution, spans: grown })
  }
  return series
}
