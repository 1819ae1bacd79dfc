import { type Bars, barCount, timeAt } from '../core/bars/bar.ts'
import { coverage } from '../core/bars/coverage.ts'
import type { Series } from '../core/bars/series.ts'
import {
  type BarBounds,
  bySeries,
  onGrid,
  type Span,
  spansOfSymbol,
  type Window,
  windowSeriesId,
} from '../core/bars/window.ts'
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
  /** The ranges of one resolution, or of all. Windows of resolutions that the feed no longer serves do not count. */
  ofSymbol(symbol: SymbolRecord, of: CoverageOf): Promise<readonly Range[]>
  /** Reads the windows of a feed once; the returned function answers for each of its symbols. */
  ofFeed(of: CoverageOf): Promise<(symbol: SymbolRecord) => Promise<readonly Range[]>>
}

interface CoverageOf {
  readonly feed: FeedDefinition
  readonly reader: Reader
  readonly resolution: Resolution | undefined
}

interface CoverageDeps {
  readonly bars: BarStore
  readonly windows: WindowStore
  readonly tail: Tail
}

/** Maximum spans of one read of the store: other keys take their turns between. */
const spansPerRead = 50

export function createCoverage({ bars, windows, tail }: CoverageDeps): Coverage {
  const boundsOf = async (series: Series, spans: readonly Span[], reader: Reader) => {
    const live = spans.map((span) => tail.bars(series, span.from, feedSeconds(span.to - 1)))
    const stored: (BarBounds | undefined)[] = []
    for (let i = 0; i < spans.length; i += spansPerRead) {
      for (const each of await bars.bounds(series, spans.slice(i, i + spansPerRead), reader))
        stored.push(each)
      reader.answered?.()
    }
    return spans.map((_, i) => widen(stored[i], live[i]))
  }
  const read = async ({ feed, reader, resolution }: CoverageOf, single?: SymbolRecord) => {
    const { key, retention } = feed
    // Bars of 30 minutes are folded from minutes.
    const only = resolution === '30' ? '1' : resolution
    const resolutions = feed.resolutions.filter((each) => only === undefined || each === only)
    const series = bySeries(await windows.of(key, reader, single?.symbol))
    reader.answered?.()
    const pruned = new Set(resolutions.filter((each) => retention[each] !== undefined))
    return (symbol: SymbolRecord) =>
      coverage(
        spansOf(symbol, resolutions, series),
        (each, spans) => boundsOf({ feed: key, symbol: symbol.symbol, resolution: each }, spans, reader),
        pruned,
      )
  }
  return {
    ofSymbol: async (symbol, of) => (await read(of, symbol))(symbol),
    ofFeed: (of) => read(of),
  }
}

/** The spans of the symbol by resolution. Earlier releases stored windows with ends off the grid: rounded, they join. */
const spansOf = (
  { symbol, since }: SymbolRecord,
  resolutions: readonly Resolution[],
  series: ReadonlyMap<string, readonly Window[]>,
): ReadonlyMap<Resolution, readonly Span[]> =>
  new Map(
    resolutions.map((resolution) => {
      const own = series.get(windowSeriesId({ symbol, resolution })) ?? []
      const feedWide = series.get(windowSeriesId({ symbol: undefined, resolution })) ?? []
      const spans = spansOfSymbol(own, feedWide, since)
      return [resolution, spans.map((span) => onGrid(resolution, span))] as const
    }),
  )

function widen(stored: BarBounds | undefined, live: Bars | undefined): BarBounds | undefined {
  if (live === undefined || barCount(live) === 0) return stored
  const [first, last] = [timeAt(live, 0), timeAt(live, barCount(live) - 1)]
  if (stored === undefined) return { first, last }
  return { first: feedSeconds(Math.min(stored.first, first)), last: feedSeconds(Math.max(stored.last, last)) }
}
