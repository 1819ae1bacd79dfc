import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedSigns } from '../core/feeds/feed-status.ts'

export type { FeedSigns }

/**
 * The liveness of feeds. Contract (test/contract/suites/feed-board.ts): a note only increases a field; signs
 * survive a restart, except those of the last second.
 */
export interface FeedBoard {
  note(feed: FeedKey, signs: FeedSigns): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedSigns>>
  ping(): Promise<void>
}
