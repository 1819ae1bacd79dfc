import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedLiveness } from '../core/feeds/feed-status.ts'

export type { FeedLiveness }

/**
 * The liveness of feeds. Contract (test/contract/suites/feed-board.ts):
 *  - `note` keeps the greater value of each field. Exception: it replaces a stored receipt or heartbeat that
 *    is more than `leadMsMax` later than the noted one;
 *  - liveness survives a restart, and forgotten liveness does not return. Changes of the last second may be lost.
 */
export interface FeedBoard {
  note(feed: FeedKey, liveness: FeedLiveness): Promise<void>
  /** Removes the liveness of the feed; later notes begin anew. */
  forget(feed: FeedKey): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedLiveness>>
  ping(): Promise<void>
}
