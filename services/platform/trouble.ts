import type { Clock } from '../ports/clock.ts'

/** So long writes of bars may fail until the store counts as away. */
export const troubleMsMax = 10_000
/** After so long without another try nothing is known of a failure any more. */
const forgottenMs = 60_000

/** Something that fails, and may fail again: for how long it has, from the first time to the last. */
export class Failures {
  readonly #clock: Clock
  #firstMs = 0
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  happened(): void {
    const now = this.#clock.monotonicMs()
    if (this.#isForgotten) this.#firstMs = now
    this.#lastMs = now
  }

  get ms(): number {
    return this.#isForgotten ? 0 : this.#lastMs - this.#firstMs
  }

  get #isForgotten(): boolean {
    return this.#clock.monotonicMs() - this.#lastMs > forgottenMs
  }
}

/** For how long a store has not taken what it was given: a server over one connection, or a file. */
export class Trouble {
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

  /** Also by a refusal. */
  answered(): void {
    this.#sinceMs = undefined
  }

  get ms(): number {
    const now = this.#clock.monotonicMs()
    return this.#sinceMs === undefined || now - this.#lastMs > forgottenMs ? 0 : now - this.#sinceMs
  }
}
