import type { Clock } from '../../ports/clock.ts'

/** Minimum time to send batches of an earlier run, however old: clocks are often corrected soon after a start. */
const startGraceMs = 3_600_000

/** When a batch arrived: by the wall clock, and in this run also by the monotonic clock. */
export interface Arrival {
  readonly utcMs: number
  /** `undefined`: in an earlier run. */
  readonly sinceMs: number | undefined
}

/**
 * Ages of batches, protected against changes of the wall clock. During this run, all batches age by the
 * monotonic clock, which stops while the machine sleeps. Batches of earlier runs also have an age at the
 * start of this run. The wall clock gives that age, with the earliest start time computed so far.
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
