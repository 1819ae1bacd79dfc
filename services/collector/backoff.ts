import type { Clock } from '../ports/clock.ts'

const firstMs = 500
const backoffMaxMs = 30_000

/** Growing pauses with full jitter, so that many collectors do not come back in one moment. */
export class Backoff {
  readonly #clock: Clock
  #failures = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** It works again: the next pause is a short one. */
  reset(): void {
    this.#failures = 0
  }

  nextMs(): number {
    const most = Math.min(backoffMaxMs, firstMs * 2 ** this.#failures)
    if (most < backoffMaxMs) this.#failures += 1
    return Math.ceil(this.#clock.random() * most)
  }
}
