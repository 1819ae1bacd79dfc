import { closeToleranceSeconds } from '../../core/bars/closed.ts'
import {
  type FeedClock,
  type FeedSeconds,
  feedNow,
  fixedOffset,
  type UtcMs,
  utcMs,
} from '../../core/clocks/feed-clock.ts'
import type { Clock } from '../../ports/clock.ts'

/** The current time on the feed's clock, by the clock of ingest: a wrong clock of this machine has no effect. */
export class FeedTime {
  readonly #feedClock: FeedClock
  readonly #clock: Clock
  offsetMs = 0
  newestTick: FeedSeconds | undefined
  #activeMs: number | undefined

  constructor(feedClock: FeedClock, clock: Clock) {
    this.#feedClock = feedClock
    this.#clock = clock
  }

  utcMs(): UtcMs {
    return utcMs(this.#clock.utcMs() + this.offsetMs)
  }

  /** `undefined` while the feed's clock is unknown and no tick has arrived. */
  now(): FeedSeconds | undefined {
    return feedNow(this.utcMs(), fixedOffset(this.#feedClock), this.newestTick)
  }

  /** Whether a bar of this time is ahead of the feed's clock; false for a measured clock, which only ticks show. */
  isAhead(time: number): boolean {
    const now = feedNow(this.utcMs(), fixedOffset(this.#feedClock), undefined)
    return now !== undefined && time > now + closeToleranceSeconds
  }

  /** A live source was opened, or reported bars. A source may report bars without a tick. */
  noteActivity(): void {
    this.#activeMs = this.#clock.monotonicMs()
  }

  /** Milliseconds since the last tick or bars arrived, or the source was opened; `undefined` for a source that is not live. */
  get tickAgeMs(): number | undefined {
    return this.#activeMs === undefined ? undefined : this.#clock.monotonicMs() - this.#activeMs
  }

  /** A tick before the last one shows that the broker set its clock back. */
  tick(newest: FeedSeconds): void {
    this.noteActivity()
    this.newestTick = newest
  }
}
