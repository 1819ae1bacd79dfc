import type { Clock } from '../../ports/clock.ts'

/** What an earlier life left gets so long to be sent, however old: clocks are often set soon after a start. */
const startGraceMs = 3_600_000

/** When a batch came: by the wall clock, and in this life by the clock that nobody sets. */
export interface Arrival {
  readonly utcMs: number
  /** `undefined`: in an earlier life. */
  readonly sinceMs: number | undefined
}

/**
 * How old batches are, whoever sets the wall clock. What came in this life ages with it, not while the machine
 * sleeps; what an earlier one left was as old as the wall clock says when this one began, by its earliest reckoning.
 */
export class Ages {
  readonly #clock: Clock
  readonly #startedMs: number
  #startedUtcMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#startedMs = clock.monotonicMs()
    this.#startedUtcMs = clock.utcMs()
  }

  get nowMs(): number {
    return this.#clock.monotonicMs()
  }

  ageMs({ utcMs, sinceMs }: Arrival): number {
    if (sinceMs !== undefined) return this.nowMs - sinceMs
    this.#startedUtcMs = Math.min(this.#startedUtcMs, this.#clock.utcMs() - this.#runMs)
    return this.#runMs + Math.max(0, this.#startedUtcMs - utcMs)
  }

  isExpired(came: Arrival, ageMaxMs: number): boolean {
    return this.ageMs(came) > ageMaxMs && (came.sinceMs !== undefined || this.#runMs > startGraceMs)
  }

  get #runMs(): number {
    return this.nowMs - this.#startedMs
  }
}
