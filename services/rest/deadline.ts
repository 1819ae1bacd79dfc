import { Unavailable } from '../core/failure.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** Maximum time without progress; then the request is answered with a failure. */
export const deadlineMs = 2_000

/** Limits the waiting of one request since its last progress: a long answer may take longer than one wait. */
export class Deadline {
  readonly #clock: Clock
  readonly #expired: Promise<never>
  #expire: (cause: unknown) => void = () => undefined
  #cancel: Cancel
  #endMs = 0
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
    this.#endMs = this.#clock.monotonicMs() + ms
    return this.#clock.after(ms, () => {
      this.#ended = true
      this.#expire(new Unavailable('progress within the request deadline'))
    })
  }

  /** Must be called at each progress; the next step may take `ms`. */
  restart(ms: number = deadlineMs): void {
    this.#cancel()
    if (!this.#ended) this.#cancel = this.#arm(ms)
  }

  /** The reader for the store: each answer of the store is progress, and the end of the request ends the read. */
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

  /** Resolves to the outcome of the work; rejects with `Unavailable` at the deadline. The work then continues, ignored. */
  async within<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined)
    return await Promise.race([work, this.#expired])
  }

  /** Must be called at the end of the request: its work is no longer needed. */
  end(): void {
    this.#ended = true
    this.#cancel()
  }

  /** Monotonic time of the deadline, without further progress. */
  get endMs(): number {
    return this.#endMs
  }

  get ended(): boolean {
    return this.#ended
  }
}
