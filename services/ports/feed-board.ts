import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedLiveness } from '../core/feeds/feed-status.ts'

export type { FeedLiveness }

/**
 * The liveness of feeds. Contract (test/contract/suites/feed-board.ts): a note only increases a field, but replaces a
 * receipt or heartbeat that leads its own by more than `leadMsMax`; signs survive a restart, except those of the last
 * second. Forgotten signs do not return with a restart, except within the last second.
 */
export interface FeedBoard {
  note(feed: FeedKey, signs: FeedLiveness): Promise<void>
  /** Removes all signs of the feed; notes that follow begin anew. */
  forget(feed: FeedKey): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedLiveness>>
  ping(): Promise<void>
}
