import type { Clock } from '../../ports/clock.ts'

/** What an earlier life left gets so long to be sent, however old: clocks are often set soon after a start. */
const chanceMs = 3_600_000

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
  readonly #begunMs: number
  #begunUtcMs: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#begunMs = clock.monotonicMs()
    this.#begunUtcMs = clock.utcMs()
  }

  get nowMs(): number {
    return this.#clock.monotonicMs()
  }

  ageMs({ utcMs, sinceMs }: Arrival): number {
    if (sinceMs !== undefined) return this.nowMs - sinceMs
    this.#begunUtcMs = Math.min(this.#begunUtcMs, this.#clock.utcMs() - this.#livedMs)
    return this.#livedMs + Math.max(0, this.#begunUtcMs - utcMs)
  }

  isPast(came: Arrival, ageMaxMs: number): boolean {
    return this.ageMs(came) > ageMaxMs && (came.sinceMs !== undefined || this.#livedMs > chanceMs)
  }

  get #livedMs(): number {
    return this.nowMs - this.#begunMs
  }
}
