import type { Clock } from '../ports/clock.ts'

/** How long writes of bars may fail before the store counts as unavailable. */
export const failingMsMax = 10_000
/** After this time without another attempt, a failure is forgotten. */
const forgottenMs = 60_000

/** How long a store has not accepted writes: a server over one connection, or a file. */
export class WriteOutage {
  readonly #clock: Clock
  #sinceMs: number | undefined
  #lastMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  asked(): void {
    if (this.ms === 0) this.#sinceMs = undefined
    this.#lastMs = this.#clock.monotonicMs()
    this.#sinceMs ??= this.#lastMs
  }

  /** A rejection counts as an answer too. */
  answered(): void {
    this.#sinceMs = undefined
  }

  get ms(): number {
    const now = this.#clock.monotonicMs()
    return this.#sinceMs === undefined || now - this.#lastMs > forgottenMs ? 0 : now - this.#sinceMs
  }
}
