import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../feeds/compound-key.ts'
import type { Resolution } from '../feeds/resolution.ts'

/** Half-open `[from, to)` on the feed's clock. */
export interface Span {
  readonly from: FeedSeconds
  readonly to: FeedSeconds
}

/** Where a window begins at the earliest: on the wire a `from` of 0 is one that nobody set. */
export const windowFromMin = feedSeconds(1)

/** Whatever a source has: times later than any bar may have are in it too, so that they are refused and not passed over. */
export const allTimes: Span = { from: feedSeconds(0), to: feedSeconds(Number.MAX_SAFE_INTEGER) }

/** "The terminal answered for this range completely", an empty answer included. */
export interface Window extends Span {
  readonly feed: FeedKey
  /** `undefined`: every symbol of the live session's catalogue (each from its own `since` on). */
  readonly symbol: CompoundKey | undefined
  readonly resolution: Resolution
}

/** Open times of the first and last bar inside a span that holds one. */
export interface BarBounds {
  readonly first: FeedSeconds
  readonly last: FeedSeconds
}
