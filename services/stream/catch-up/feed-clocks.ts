import { fixedOffset } from '../../core/clocks/feed-clock.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'

/** Interval between two reads of the newest ticks. */
const readEveryMs = 5_000

interface FeedClocksDeps {
  readonly registry: FollowedRegistry
  readonly board: FeedBoard
  readonly clock: Clock
  readonly log: Log
  readonly feeds: LiveFeeds
}

/** Reads the newest tick of each feed whose clock is measured: its present time while the clock is unknown. */
export class FeedClocks {
  readonly #deps: FeedClocksDeps
  readonly #outage: OutageLog
  readonly close: () => void

  constructor(deps: FeedClocksDeps) {
    this.#deps = deps
    this.#outage = new OutageLog(deps)
    const read = (): void => {
      this.#read().catch((cause: unknown) =>
        this.#outage.failed({ text: 'feed board unavailable; `since` uses the last known ticks', cause }),
      )
    }
    this.close = deps.clock.every(readEveryMs, read)
    read()
  }

  async #read(): Promise<void> {
    const { registry, board, feeds } = this.#deps
    if (!registry.loaded) return
    const measured = registry
      .view()
      .feeds()
      .flatMap(({ key, clock }) => (fixedOffset(clock) === undefined ? [key] : []))
    if (measured.length === 0) return
    for (const [feed, { newestTick }] of await board.read(measured))
      if (newestTick !== undefined) feeds.of(feed).newestTick = newestTick
    this.#outage.worked('feed board available again')
  }
}
