import { type Bars, barCount, timeAt } from '../core/bars/bar.ts'
import { coverage } from '../core/bars/coverage.ts'
import type { Series } from '../core/bars/series.ts'
import type { BarBounds, Span, Window } from '../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../core/clocks/feed-clock.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { CompoundKey } from '../core/feeds/compound-key.ts'
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
    async ofFeed({ key: feed, resolutions }, reader) {
      const all = await windows.of(feed, reader)
      const bySymbol = group(all.filter(({ resolution }) => resolutions.includes(resolution)))
      reader.answered?.()
      return (symbol) =>
        coverage(spansOf(symbol, bySymbol), (resolution, spans) =>
          boundsOf({ feed, symbol: symbol.symbol, resolution }, spans, reader),
        )
    },
  }
}

type Grouped = Map<CompoundKey | undefined, Map<Resolution, Span[]>>

function group(windows: readonly Window[]): Grouped {
  const bySymbol: Grouped = new Map()
  for (const { symbol, resolution, from, to } of windows) {
    const byResolution = bySymbol.get(symbol) ?? new Map<Resolution, Span[]>()
    bySymbol.set(symbol, byResolution)
    const spans = byResolution.get(resolution) ?? []
    byResolution.set(resolution, spans)
    spans.push({ from, to })
  }
  return bySymbol
}

/** The symbol's own windows, and those of the whole feed from the time a live session first listed it. */
function spansOf(symbol: SymbolRecord, bySymbol: Grouped): Map<Resolution, readonly Span[]> {
  const spans = new Map<Resolution, readonly Span[]>(bySymbol.get(symbol.symbol))
  const { since } = symbol
  if (since === undefined) return spans
  for (const [resolution, feedWide] of bySymbol.get(undefined) ?? []) {
    const own = spans.get(resolution) ?? []
    spans.set(resolution, [...own, ...feedWide.flatMap((span) => startingFrom(since, span))])
  }
  return spans
}

const startingFrom = (since: FeedSeconds, { from, to }: Span): Span[] =>
  to <= since ? [] : [{ from: feedSeconds(Math.max(from, since)), to }]

function widen(stored: BarBounds | undefined, live: Bars | undefined): BarBounds | undefined {
  if (live === undefined || barCount(live) === 0) return stored
  const [first, last] = [timeAt(live, 0), timeAt(live, barCount(live) - 1)]
  if (stored === undefined) return { first, last }
  return {
    first: feedSeconds(Math.min(stored.first, first)),
    last: feedSeconds(Math.max(stored.last, last)),
  }
}
