import type { FeedKey } from '../core/compound-key.ts'
import type { FeedSeconds, UtcMs } from '../core/feed-clock.ts'

/** What is known of a feed's liveness; a field is absent until its first event. */
export interface FeedSigns {
  /** When the live lane last delivered a bar. */
  readonly receivedAt?: UtcMs | undefined
  /** Open time of the newest bar the live lane delivered. */
  readonly newestBar?: FeedSeconds | undefined
  /** When the collector last said that its terminal is connected. */
  readonly heartbeatAt?: UtcMs | undefined
  /** Newest tick time that a session reported, on the feed's clock. */
  readonly newestTick?: FeedSeconds | undefined
}

/**
 * The feed board. Contract (test/contract/feed-board.ts): a note only moves a field forward, never
 * back; signs survive a restart but for the last second.
 */
export interface FeedBoard {
  note(feed: FeedKey, signs: FeedSigns): Promise<void>
  read(feeds: readonly FeedKey[]): Promise<ReadonlyMap<FeedKey, FeedSigns>>
  ping(): Promise<void>
}
