import { later, type UtcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { leadMsMax } from '../../core/feeds/feed-status.ts'
import type { FeedBoard, FeedLiveness } from '../../ports/feed-board.ts'
import type { Remembered } from './memory/remembered.ts'

export function embeddedFeedBoard(liveness: Remembered<FeedKey, FeedLiveness>): FeedBoard {
  return {
    async note(feed, noted) {
      const known = liveness.get(feed) ?? {}
      liveness.set(feed, {
        receivedAt: laterUtc(known.receivedAt, noted.receivedAt),
        newestBar: later(known.newestBar, noted.newestBar),
        heartbeatAt: laterUtc(known.heartbeatAt, noted.heartbeatAt),
        newestTick: later(known.newestTick, noted.newestTick),
      })
    },
    async forget(feed) {
      liveness.set(feed, {})
    },
    read: async (feeds) => new Map(feeds.flatMap((feed) => entry(feed, liveness.get(feed)))),
    ping: () => Promise.resolve(),
  }
}

const laterUtc = (known: UtcMs | undefined, noted: UtcMs | undefined): UtcMs | undefined =>
  known !== undefined && noted !== undefined && known - noted > leadMsMax ? noted : later(known, noted)

const entry = (feed: FeedKey, liveness: FeedLiveness | undefined): [FeedKey, FeedLiveness][] =>
  liveness && Object.values(liveness).some((value) => value !== undefined) ? [[feed, liveness]] : []
