import type { Clock } from '../ports/clock.ts'

/** Maximum pause of those for whom live bars wait: a collector, the canary, a comparison of ingest with the store. */
export const reconnectMaxMs = 5_000

interface BackoffOptions {
  readonly firstMs?: number
  readonly maxMs?: number
  /** `full`: between 0 and the pause, for many clients of one server. `half`: 0.5 to 1.5 pauses. `none`: exact. */
  readonly jitter?: 'full' | 'half' | 'none'
}

/** Pauses between retries: they double with each failure, up to a maximum. */
export class Backoff {
  readonly #clock: Pick<Clock, 'random'>
  readonly #options: Required<BackoffOptions>
  #failures = 0

  constructor(
    clock: Pick<Clock, 'random'>,
    { firstMs = 500, maxMs = 30_000, jitter = 'full' }: BackoffOptions = {},
  ) {
    this.#clock = clock
    this.#options = { firstMs, maxMs, jitter }
  }

  reset(): void {
    this.#failures = 0
  }

  /** Milliseconds to wait after one more failure. */
  nextMs(): number {
    const { firstMs, maxMs, jitter } = this.#options
    const pauseMs = Math.min(maxMs, firstMs * 2 ** this.#failures)
    if (pauseMs < maxMs) this.#failures += 1
    if (jitter === 'none') return pauseMs
    const random = this.#clock.random()
    return Math.ceil(pauseMs * (jitter === 'half' ? 0.5 + random : random))
  }
}
