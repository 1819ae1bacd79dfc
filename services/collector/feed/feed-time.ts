import type { FeedClock } from '../../core/clocks/feed-clock.ts'
import { type FeedSeconds, feedNow, fixedOffset, utcMs } from '../../core/clocks/feed-clock.ts'
import type { Clock } from '../../ports/clock.ts'

/** "Now" on the feed's clock, by ingest's time: a wrong clock of this machine does not matter. */
export class FeedTime {
  readonly #feedClock: FeedClock
  readonly #clock: Clock
  offsetMs = 0
  newestTick: FeedSeconds | undefined
  #tickedMs: number | undefined

  constructor(feedClock: FeedClock, clock: Clock) {
    this.#feedClock = feedClock
    this.#clock = clock
  }

  /** `undefined` while the feed's clock is unknown and no tick came. */
  now(): FeedSeconds | undefined {
    return feedNow(utcMs(this.#clock.utcMs() + this.offsetMs), fixedOffset(this.#feedClock), this.newestTick)
  }

  /** Since the last tick came; absent before the first. */
  get tickAgeMs(): number | undefined {
    return this.#tickedMs === undefined ? undefined : this.#clock.monotonicMs() - this.#tickedMs
  }

  tick(newest: FeedSeconds): void {
    this.#tickedMs = this.#clock.monotonicMs()
    if (this.newestTick === undefined || newest > this.newestTick) this.newestTick = newest
  }
}
