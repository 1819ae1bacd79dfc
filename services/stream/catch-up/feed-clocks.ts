import { type FeedSeconds, feedNow, fixedOffset } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { knownOffset } from '../../core/registry/clock-history.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { SharedDeps } from '../deps.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'

const readEveryMs = 5_000

interface FeedNow {
  readonly time: FeedSeconds
  /** False: the time of a tick that was read up to some seconds ago. */
  readonly isExact: boolean
}

interface FeedClocksDeps extends Pick<SharedDeps, 'registry' | 'board' | 'clock' | 'log'> {
  readonly feeds: LiveFeeds
}

/** The present time of every feed, without waiting. For an unknown clock it is the newest tick that was read. */
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

  /** `undefined` if no time is known: before the first tick, or if the feed board was never available. */
  now(feed: FeedKey): FeedNow | undefined {
    const { registry, clock, feeds } = this.#deps
    const view = registry.view()
    const definition = view.feed(feed)
    const offset = definition && knownOffset(definition, view)
    const time = feedNow(clock.utcMs(), offset, feeds.of(feed).newestTick)
    return time === undefined ? undefined : { time, isExact: offset !== undefined }
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
