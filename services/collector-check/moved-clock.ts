import { utcMs } from '../core/clocks/feed-clock.ts'
import type { Clock } from '../ports/clock.ts'

/** A clock whose time of day is set forward and back. Its timers and its monotonic time stay right. */
export class MovedClock {
  readonly clock: Clock
  #aheadMs = 0
  wasSetBack = false

  constructor(real: Clock) {
    this.clock = { ...real, utcMs: () => utcMs(real.utcMs() + this.#aheadMs) }
  }

  set(aheadMs: number): void {
    this.wasSetBack ||= aheadMs < this.#aheadMs
    this.#aheadMs = aheadMs
  }
}
