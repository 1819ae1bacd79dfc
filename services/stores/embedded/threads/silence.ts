import type { Clock } from '../../../ports/clock.ts'

/** A thread that was asked and answered nothing for so long hangs. */
export const silenceMaxMs = 30_000

/** For how long a thread that was asked something has answered nothing. */
export class Silence {
  readonly #clock: Clock
  /** Calls given up included: the thread has yet to come to them. */
  #unanswered = 0
  #sinceMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isTooLong(): boolean {
    return this.#unanswered > 0 && this.#clock.monotonicMs() - this.#sinceMs >= silenceMaxMs
  }

  asked(): void {
    if (this.#unanswered === 0) this.#sinceMs = this.#clock.monotonicMs()
    this.#unanswered += 1
  }

  answered(): void {
    this.#unanswered -= 1
    this.#sinceMs = this.#clock.monotonicMs()
  }

  /** Another thread takes its place. */
  ended(): void {
    this.#unanswered = 0
  }
}
