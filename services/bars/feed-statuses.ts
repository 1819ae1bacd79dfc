import { type NewestBar, newestByOpen } from '../core/bars/newest-bar.ts'
import { serviceReader } from '../core/fair-queue.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import { ageSeconds, type FeedLiveness, type FeedStatus, feedStatus } from '../core/feeds/feed-status.ts'
import { knownClock } from '../core/registry/clock-history.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { BarStore } from '../ports/bars.ts'
import type { Clock } from '../ports/clock.ts'
import type { FeedBoard } from '../ports/feed-board.ts'

interface FeedStatusesDeps {
  readonly bars: Pick<BarStore, 'lastTimes'>
  readonly board: Pick<FeedBoard, 'read'>
  readonly clock: Pick<Clock, 'utcMs'>
}

/** The statuses of feeds, from the last reads of the feed board and the store. */
export class FeedStatuses {
  readonly #deps: FeedStatusesDeps
  readonly #liveness = new Map<FeedKey, FeedLiveness>()
  readonly #stored = new Map<FeedKey, NewestBar | undefined>()
  readonly #reads = new Map<FeedKey, Promise<NewestBar | undefined>>()

  constructor(deps: FeedStatusesDeps) {
    this.#deps = deps
  }

  async readBoard(feeds: readonly FeedKey[]): Promise<void> {
    const liveness = await this.#deps.board.read(feeds)
    for (const feed of feeds) this.#liveness.set(feed, liveness.get(feed) ?? {})
  }

  /** Reads the newest stored bars of feeds without a live bar. Rejects if a read fails. */
  async readNewest(feeds: readonly FeedKey[]): Promise<void> {
    const silent = feeds.filter((feed) => this.#liveness.get(feed)?.receivedAt === undefined)
    await Promise.all(silent.map(async (feed) => this.#stored.set(feed, await this.#newestStored(feed))))
  }

  of(definition: FeedDefinition, view: RegistryView): FeedStatus {
    const now = this.#deps.clock.utcMs()
    const known = knownClock(definition, view.clocksOf(definition.key))
    return feedStatus({
      definition,
      liveness: this.#liveness.get(definition.key) ?? {},
      now,
      offsetSeconds: known?.offsetSeconds,
      offsetAgeSeconds: ageSeconds(now, known?.measuredAt),
      newestStored: this.#stored.get(definition.key),
      symbolCount: view.symbolsOf(definition.key).length,
    })
  }

  /** The read covers every series, so calls during a read share it. */
  #newestStored(feed: FeedKey): Promise<NewestBar | undefined> {
    const running = this.#reads.get(feed)
    if (running) return running
    const read = this.#deps.bars
      .lastTimes(feed, { reader: serviceReader('status') })
      .then(newestByOpen)
      .finally(() => this.#reads.delete(feed))
    this.#reads.set(feed, read)
    return read
  }
}
