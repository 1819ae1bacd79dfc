import type { Clock } from '../../ports/clock.ts'

/** Maximum milliseconds for starts of requests per turn of the event loop. */
export const turnMsMax = 10

/**
 * Starts requests in the order of their arrival, for a limited time per turn of the event loop; later ones wait for the
 * next turn. Without the limit a client with many connections stops all sockets: its requests arrive in one turn.
 */
export class RequestTurns {
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  /** When the time of this turn is used up; `undefined` if no request started in it. */
  #endMs: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  start(request: () => void): void {
    if (this.#waiting.length === 0 && this.#hasTime()) request()
    else this.#waiting.push(request)
  }

  #hasTime(): boolean {
    const now = this.#clock.monotonicMs()
    if (this.#endMs === undefined) {
      this.#endMs = now + turnMsMax
      this.#clock.soon(() => this.#next())
    }
    return now < this.#endMs
  }

  #next(): void {
    this.#endMs = undefined
    let count = 0
    while (count < this.#waiting.length && this.#hasTime()) this.#waiting[count++]?.()
    this.#waiting.splice(0, count)
  }
}
