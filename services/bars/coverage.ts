import { type Bars, barCount, timeAt } from '../core/bars/bar.ts'
import { coverage } from '../core/bars/coverage.ts'
import type { Series } from '../core/bars/series.ts'
import { type BarBounds, type Span, spansOfSymbol, type Window, windowSeriesId } from '../core/bars/window.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import type { BarStore } from '../ports/bars.ts'
import type { WindowStore } from '../ports/windows.ts'
import type { Tail } from './tail.ts'

export interface Range {
  readonly from: number
  readonly to: number
}

/** The ranges in which a symbol has data without a gap, from acknowledged windows and the bars inside them. */
export interface Coverage {
  /**
   * Reads the windows of a feed once; the returned function answers for each of its symbols. Windows of resolutions
   * that the feed no longer serves do not count.
   */
  ofFeed(feed: FeedDefinition, reader: Reader): Promise<(symbol: SymbolRecord) => Promise<readonly Range[]>>
}

export interface CoverageDeps {
  readonly bars: BarStore
  readonly windows: WindowStore
  readonly tail: Tail
}

export function createCoverage({ bars, windows, tail }: CoverageDeps): Coverage {
  const boundsOf = async (series: Series, spans: readonly Span[], reader: Reader) => {
    const live = spans.map((span) => tail.bars(series, span.from, feedSeconds(span.to - 1)))
    const stored = await bars.bounds(series, spans, reader)
    reader.answered?.()
    return spans.map((_, i) => widen(stored[i], live[i]))
  }
  return {
    async ofFeed({ key: feed, resolutions, retention }, reader) {
      const bySeries = Map.groupBy(await windows.of(feed, reader), windowSeriesId)
      reader.answered?.()
      const pruned = new Set(resolutions.filter((resolution) => retention[resolution] !== undefined))
      return (symbol) =>
        coverage(
          spansOf(symbol, resolutions, bySeries),
          (resolution, spans) => boundsOf({ feed, symbol: symbol.symbol, resolution }, spans, reader),
          pruned,
        )
    },
  }
}

/** The spans that windows cover for the symbol, by resolution. */
const spansOf = (
  { symbol, since }: SymbolRecord,
  resolutions: readonly Resolution[],
  bySeries: ReadonlyMap<string, readonly Window[]>,
): ReadonlyMap<Resolution, readonly Span[]> =>
  new Map(
    resolutions.map((resolution) => {
      const own = bySeries.get(windowSeriesId({ symbol, resolution })) ?? []
      const feedWide = bySeries.get(windowSeriesId({ symbol: undefined, resolution })) ?? []
      return [resolution, spansOfSymbol(own, feedWide, since)] as const
    }),
  )

function widen(stored: BarBounds | undefined, live: Bars | undefined): BarBounds | undefined {
  if (live === undefined || barCount(live) === 0) return stored
  const [first, last] = [timeAt(live, 0), timeAt(live, barCount(live) - 1)]
  if (stored === undefined) return { first, last }
  return {
    first: feedSeconds(Math.min(stored.first, first)),
    last: feedSeconds(Math.max(stored.last, last)),
  }
}
