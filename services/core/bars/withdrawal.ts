import { feedSeconds } from '../clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../feeds/compound-key.ts'
import type { Resolution } from '../feeds/resolution.ts'
import type { SymbolRecord } from '../feeds/symbol.ts'
import { joinSpans, subtractSpans } from './coverage.ts'
import { type Span, spansOfSymbol, type Window } from './window.ts'

/** Times for which a terminal's answers no longer count, so that its collector reads them again. */
export interface Withdrawal {
  readonly feed: FeedKey
  readonly resolution: Resolution
  readonly span: Span
  /** `undefined`: all symbols of the feed. */
  readonly symbol: CompoundKey | undefined
  /** The other symbols of the feed: they keep what windows of all symbols say about them. */
  readonly others: readonly Pick<SymbolRecord, 'symbol' | 'since'>[]
}

/**
 * The windows that replace those that a withdrawal takes: their times outside of it, and windows of the other symbols
 * for what it takes from windows of all symbols.
 */
export function keptWindows(
  taken: readonly Pick<Window, 'symbol' | 'from' | 'to'>[],
  { feed, resolution, span, others }: Pick<Withdrawal, 'feed' | 'resolution' | 'span' | 'others'>,
): Window[] {
  const windowOf = (symbol: CompoundKey | undefined, { from, to }: Span): Window => ({
    feed,
    symbol,
    resolution,
    from,
    to,
  })
  const ofAll = taken.flatMap(({ symbol, from, to }) =>
    symbol === undefined
      ? [{ from: feedSeconds(Math.max(from, span.from)), to: feedSeconds(Math.min(to, span.to)) }]
      : [],
  )
  return [
    ...taken.flatMap((window) =>
      subtractSpans([window], [span]).map((rest) => windowOf(window.symbol, rest)),
    ),
    ...others.flatMap(({ symbol, since }) =>
      joinSpans(spansOfSymbol([], ofAll, since)).map((part) => windowOf(symbol, part)),
    ),
  ]
}
