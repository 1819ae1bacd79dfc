import type { Bars } from '../core/bars/bar.ts'
import type { Lane, Series, SeriesBars } from '../core/bars/series.ts'
import type { BarBounds, Span } from '../core/bars/window.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'

export interface ReadAs {
  /** The reader; keys take turns. `undefined`: the store itself, whose reads have separate turns. */
  readonly reader?: Reader
  /** `backfill`: the answer is not urgent, so it may be delayed and never delays other readers. */
  readonly lane?: Lane
}

export interface LastTimesAs extends ReadAs {
  /** Leaves out the series whose table is out of order; by default the call rejects. */
  readonly isPartial?: boolean
}

/** Inclusive at both ends; compared with the open times of bars. */
export interface BarQuery extends ReadAs {
  readonly series: Series
  readonly from: FeedSeconds
  readonly to: FeedSeconds
  /** Maximum bars, counted from one end of the range. `undefined`: all bars; the caller limits the range. */
  readonly take?: { readonly count: number; readonly end: 'oldest' | 'newest' }
}

export interface WriteOptions {
  /** Called at most once, when all rows are durable, if that is known before they are readable. */
  readonly onCommitted?: (() => void) | undefined
  /** Drops what waits of the write. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Closed bars, one series per symbol and stored resolution. Contract (test/contract/suites/bars.ts):
 *  - `write` waits for the store and for the bars' tables, however long, and resolves once all bars are committed and
 *    readable. It rejects when the store closes, or when `signal` aborts, after what is being sent of it. It rejects as
 *    `Unavailable` where hundreds of thousands of rows of the backfill lane wait. Then any part of the bars may be
 *    stored, and writing them again is harmless;
 *  - of several bars with one series and time the greatest revision is kept, whatever the order; an equal
 *    revision changes nothing;
 *  - `read` returns bars ascending in time, each time once, and sees all writes that ended before it began;
 *  - live writes overtake waiting backfill writes. The caller bounds what waits of the live lane, by `waitingBytes`;
 *  - reads wait per key of their reader, and keys take turns. A read of one key waits at most for the reads
 *    under way and for one read, and one short read, of each other waiting key. A read that is not served within the deadline, or
 *    that a key sends above its limit of waiting reads, fails as `Overloaded`;
 *  - a read of a table that is missing or was replaced fails as `TableOutOfOrder`. A write waits until the table is in
 *    order again; rows of other tables are stored, in the same write too;
 *  - a read that does not end within its deadline fails as `Unavailable`: 2 s; 15 s for reads of the backfill lane, and
 *    of a process without clients.
 */
export interface BarStore {
  /** Whether a new partition of old bars costs the store, so that ingest makes them slowly; see `OldPartitions`. */
  readonly isPartitioned?: boolean
  write(batch: readonly SeriesBars[], lane: Lane, options?: WriteOptions): Promise<void>
  /** Bytes of the rows that wait to be stored or are being stored, of each feed with any. */
  waitingBytes(): ReadonlyMap<FeedKey, number>
  read(query: BarQuery): Promise<Bars>
  /** Open time of the newest stored bar of each series of the feed, by `seriesId`. */
  lastTimes(feed: FeedKey, as?: LastTimesAs): Promise<ReadonlyMap<string, FeedSeconds>>
  /** First and last bar inside each half-open span; `undefined` for a span without bars. */
  bounds(series: Series, spans: readonly Span[], reader?: Reader): Promise<readonly (BarBounds | undefined)[]>
  /** Removes all bars of the feed. Rejects with `Unfinished`, which names what is left; another call continues there. */
  purge(feed: FeedKey): Promise<void>
  /** Resolves when the store answers; otherwise rejects with `Unavailable`. */
  ping(): Promise<void>
}
