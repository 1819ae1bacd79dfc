import { Unavailable } from '../core/failure.ts'
import type { Reader } from '../core/turns.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** A request that made no progress for so long is answered with a failure. */
export const deadlineMs = 2_000

/**
 * Bounds the waiting of one request. The deadline counts from the last progress, so that a long answer
 * may take longer than any single wait for a dependency.
 */
export class Deadline {
  readonly #clock: Clock
  readonly #expired: Promise<never>
  #expire: (cause: unknown) => void = () => undefined
  #cancel: Cancel
  readonly #begunMs: number
  #ended = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#begunMs = clock.monotonicMs()
    this.#expired = new Promise<never>((_, reject) => {
      this.#expire = reject
    })
    this.#expired.catch(() => undefined)
    this.#cancel = this.#arm(deadlineMs)
  }

  #arm(ms: number): Cancel {
    return this.#clock.after(ms, () => {
      this.#ended = true
      this.#expire(new Unavailable('a dependency within the deadline'))
    })
  }

  /** Progress was made; the next may take this long. */
  restart(ms: number = deadlineMs): void {
    this.#cancel()
    if (!this.#ended) this.#cancel = this.#arm(ms)
  }

  /** The request as the store knows it: each answer is progress, and at the end nobody waits for more. */
  readerOf(key: string): Reader {
    const isEnded = (): boolean => this.#ended
    return {
      key,
      sinceMs: this.#begunMs,
      get isGone() {
        return isEnded()
      },
      answered: () => this.restart(),
    }
  }

  /** The work's outcome, or `Unavailable` when the deadline comes first; then the work goes on unheard. */
  async within<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined)
    return await Promise.race([work, this.#expired])
  }

  /** The request is over: nobody waits for its work any more. */
  end(): void {
    this.#ended = true
    this.#cancel()
  }

  get ended(): boolean {
    return this.#ended
  }
}
