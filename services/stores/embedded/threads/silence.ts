import type { Clock } from '../../../ports/clock.ts'

/** Maximum time without an answer while calls are open; then the thread hangs. */
export const silenceMaxMs = 30_000

/** For how long a thread with open calls has sent no answer. */
export class Silence {
  readonly #clock: Clock
  /** Includes calls that timed out: the thread has yet to process them. */
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

  /** The thread ended: its open calls no longer count. */
  ended(): void {
    this.#unanswered = 0
  }
}
