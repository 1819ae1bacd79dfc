import type { Bars } from '../core/bars/bar.ts'
import type { Lane, Series, SeriesBars } from '../core/bars/series.ts'
import type { BarBounds, Span } from '../core/bars/window.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { Reader } from '../core/turns.ts'

export type { BarBounds }

/** For whom and how urgently is read. */
export interface ReadAs {
  /** Keys of readers take turns. Left out: the store itself, which has turns of its own. */
  readonly reader?: Reader
  /** `backfill`: nobody waits for the answer, so it may come later and never keeps other readers waiting. */
  readonly lane?: Lane
}

/** Both ends inclusive, compared with bar open times. */
export interface BarQuery extends ReadAs {
  readonly series: Series
  readonly from: FeedSeconds
  readonly to: FeedSeconds
  /** At most this many bars, taken from one end of the range; without it the whole range (bounded by the caller). */
  readonly take?: { readonly count: number; readonly end: 'oldest' | 'newest' }
}

/**
 * Closed bars, one series per symbol and stored resolution. Contract (test/contract/suites/bars.ts):
 *  - `write` resolves only after everything it was given is committed; on an error nothing or
 *    something of it may be stored, and writing it again is harmless;
 *  - of several bars with one series and time the greatest revision is kept, whatever the order;
 *    an equal revision changes nothing;
 *  - `read` is ascending in time with each time once, and sees what was written before it began;
 *  - live writes overtake waiting backfill writes; the queue is bounded and a writer beyond the
 *    bound waits, or fails as `Unavailable` where hundreds of thousands of bars wait already;
 *  - reads wait per key of their reader, and keys take turns: whatever one key asks for, a read of another
 *    waits for what is being read and one read of each key that waits. What a key cannot get within the
 *    deadline fails as `Overloaded`, as does what it asks for beyond the bound of what may wait;
 *  - every call ends within its deadline (reads 2 s, of the backfill lane and of a process that
 *    serves no clients 15 s, writes 30 s, and 60 s more where one is the first of its kind) and fails as `Unavailable`.
 */
export interface BarStore {
  write(batch: readonly SeriesBars[], lane: Lane): Promise<void>
  read(query: BarQuery): Promise<Bars>
  /** Open time of the newest stored bar of each series of the feed, by `seriesId`. */
  lastTimes(feed: FeedKey, as?: ReadAs): Promise<ReadonlyMap<string, FeedSeconds>>
  /** First and last bar inside each half-open span; `undefined` where it holds none. */
  bounds(series: Series, spans: readonly Span[], reader?: Reader): Promise<readonly (BarBounds | undefined)[]>
  /** Removes all bars of the feed. Rejects with `Unfinished`, which names what is left; again goes on there. */
  purge(feed: FeedKey): Promise<void>
  /** Resolves when the store answers, else rejects with `Unavailable`. */
  ping(): Promise<void>
}
