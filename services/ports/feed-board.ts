import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedLiveness } from '../core/feeds/feed-status.ts'

export type { FeedLiveness }

/**
 * The liveness of feeds. Contract (test/contract/suites/feed-board.ts):
 *  - `note` keeps the greater value of each field. Exception: it replaces a stored receipt or heartbeat that
 *    is more than `leadMsMax` later than the noted one;
 *  - signs survive a restart, and forgotten signs do not return. Changes of the last second may be lost.
 */
export interface FeedBoard {
  note(feed: FeedKey, signs: FeedLiveness): Promise<void>
  /** Removes all signs of the feed; notes that follow begin anew. */
  forget(feed: FeedKey): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedLiveness>>
  ping(): Promise<void>
}
