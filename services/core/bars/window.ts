import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../feeds/compound-key.ts'
import type { Resolution } from '../feeds/resolution.ts'
import { gridSeconds } from './bar-rules.ts'

/** Half-open `[from, to)` on the feed's clock. */
export interface Span {
  readonly from: FeedSeconds
  readonly to: FeedSeconds
}

/** The earliest start of a window: on the wire a `from` of 0 means that it was not set. */
export const windowFromMin = feedSeconds(1)

/** All bars of a source. It includes times later than any valid bar, so that these are rejected and not skipped. */
export const allTimes: Span = { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) }

/** "The terminal answered for this range completely", also where it had no bars. */
export interface Window extends Span {
  readonly feed: FeedKey
  /** `undefined`: every symbol in the catalogue of the live session (each from its own `since`). */
  readonly symbol: CompoundKey | undefined
  readonly resolution: Resolution
}

/** Identifies the series of a window within its feed; the symbol is empty for a window of all symbols. */
export const windowSeriesId = ({ symbol, resolution }: Pick<Window, 'symbol' | 'resolution'>): string =>
  `${resolution} ${symbol ?? ''}`

/** Windows by `windowSeriesId`. Those of one series mostly follow each other, and then need one id. */
export function bySeries(windows: readonly Window[]): Map<string, Window[]> {
  const all = new Map<string, Window[]>()
  let list: Window[] = []
  for (const window of windows) {
    const last = list.at(-1)
    if (last?.symbol !== window.symbol || last?.resolution !== window.resolution) {
      const id = windowSeriesId(window)
      list = all.get(id) ?? []
      all.set(id, list)
    }
    list.push(window)
  }
  return all
}

/**
 * The same claim with both ends on the grid on which bars of the resolution may open. Both are rounded up to the next such time,
 * so no bar enters or leaves the span. A window to `t + 59` then joins with one from `t + 60` on. The span may become empty.
 * The earliest start stays: a collector that reads from it would miss the time up to the first bar in `Known`.
 */
export const onGrid = (r: Resolution, { from, to }: Span): Span => {
  const grid = gridSeconds(r)
  const up = (time: FeedSeconds): FeedSeconds => feedSeconds(Math.ceil(time / grid) * grid)
  return { from: from <= windowFromMin ? from : up(from), to: up(to) }
}

/** The spans of one symbol: its own, and feed-wide ones from `since` on, when a live session first listed it. */
export const spansOfSymbol = (
  own: readonly Span[],
  feedWide: readonly Span[],
  since: FeedSeconds | undefined,
): readonly Span[] =>
  since === undefined
    ? own
    : [...own, ...feedWide.map(({ from, to }) => ({ from: feedSeconds(Math.max(from, since)), to }))]

/** Throws `RangeError` for a window that no store can keep. */
export function refuseUnfitWindow({ feed, symbol, resolution, from, to }: Window): void {
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && from <= to) return
  throw new RangeError(
    `A window of ${symbol ?? feed} at ${resolution} is [${from}, ${to}); it must be integers in this order.`,
  )
}

/** Open times of the first and last bar inside a span that has bars. */
export interface BarBounds {
  readonly first: FeedSeconds
  readonly last: FeedSeconds
}
