import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedSigns } from '../core/feeds/feed-status.ts'

export type { FeedSigns }

/**
 * The feed board. Contract (test/contract/suites/feed-board.ts): a note only moves a field forward, never
 * back; signs survive a restart but for the last second.
 */
export interface FeedBoard {
  note(feed: FeedKey, signs: FeedSigns): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedSigns>>
  ping(): Promise<void>
}
