import type { Clock } from '../ports/clock.ts'

const firstMs = 500
const backoffMaxMs = 30_000
/** Where live bars wait for the connection: a collector, the canary. */
export const reconnectMaxMs = 5_000

/** Growing pauses with full jitter, so that many clients do not come back in one moment. */
export class Backoff {
  readonly #clock: Clock
  readonly #maxMs: number
  #failures = 0

  constructor(clock: Clock, maxMs = backoffMaxMs) {
    this.#clock = clock
    this.#maxMs = maxMs
  }

  /** It works again: the next pause is a short one. */
  reset(): void {
    this.#failures = 0
  }

  nextMs(): number {
    const most = Math.min(this.#maxMs, firstMs * 2 ** this.#failures)
    if (most < this.#maxMs) this.#failures += 1
    return Math.ceil(this.#clock.random() * most)
  }
}
