import { closeToleranceSeconds } from '../../../core/bars/closed.ts'
import {
  clockStepSecondsMin,
  type FeedClock,
  type FeedSeconds,
  feedSeconds,
  fixedOffset,
  toFeed,
  toSeconds,
  type UtcMs,
} from '../../../core/clocks/feed-clock.ts'

/** Older ticks show a clock that was set back only after they have gone on for this long. */
const setBackMs = 60_000
const setBackTicksSeconds = 30

/** The broker's clock as the ticks of a terminal show it. */
export class TickClock {
  newest: FeedSeconds | undefined
  readonly #fixed: number | undefined
  readonly #time: { utcMs(): UtcMs }
  /** The clock minus UTC. A tick may arrive late, never early: so the greatest difference is the best one. */
  #ahead: number | undefined
  #older: { readonly first: FeedSeconds; readonly sinceMs: UtcMs } | undefined

  constructor(clock: FeedClock, time: { utcMs(): UtcMs }) {
    this.#fixed = fixedOffset(clock)
    this.#time = time
  }

  /**
   * Takes the newest tick of a terminal. Returns whether it is the feed's newest tick now. After a reconnect a terminal
   * reports old ticks: an older tick counts only once ticks have gone on behind the newest one for a minute.
   */
  take(tick: FeedSeconds): boolean {
    const { newest } = this
    if (newest !== undefined && tick <= newest) return tick < newest && this.#takeOlder(tick, newest)
    this.#older = undefined
    this.newest = tick
    this.#ahead = Math.max(this.#ahead ?? Number.NEGATIVE_INFINITY, tick - toSeconds(this.#time.utcMs()))
    return true
  }

  #takeOlder(tick: FeedSeconds, newest: FeedSeconds): boolean {
    if (newest - tick < clockStepSecondsMin) return false
    const nowMs = this.#time.utcMs()
    if (!this.#older || tick < this.#older.first) this.#older = { first: tick, sinceMs: nowMs }
    const { first, sinceMs } = this.#older
    if (nowMs - sinceMs < setBackMs || tick - first < setBackTicksSeconds) return false
    this.#older = undefined
    this.newest = tick
    this.#ahead = tick - toSeconds(nowMs)
    return true
  }

  /** Bars that open later cannot have ended. Neither a tick nor the clock has reached them. */
  get latest(): FeedSeconds {
    return feedSeconds(Math.max(this.newest ?? 0, this.endedWithoutTick ?? 0))
  }

  /** The time until which bars have ended although no tick came since; `undefined` while the clock is unknown. */
  get endedWithoutTick(): FeedSeconds | undefined {
    const utc = toSeconds(this.#time.utcMs())
    const offset = this.#fixed ?? (this.#ahead === undefined ? undefined : -this.#ahead)
    return offset === undefined ? undefined : feedSeconds(toFeed(utc, offset) - closeToleranceSeconds)
  }
}
