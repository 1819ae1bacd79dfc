import type { Clock } from '../../ports/clock.ts'
import { TurnTime } from '../turn-time.ts'

/** Maximum milliseconds for starts of requests per turn of the event loop. */
export const turnMsMax = 10

/**
 * Starts requests in the order of their arrival. `turnMsMax` after the first start in a turn of the event loop, further
 * requests wait for the next turn. Only the synchronous part of a start counts. Without the limit one client with many
 * connections stops all sockets, because its requests arrive in one turn.
 */
export class RequestTurns {
  readonly #clock: Clock
  readonly #time: TurnTime
  readonly #waiting: (() => void)[] = []

  constructor(clock: Clock) {
    this.#clock = clock
    this.#time = new TurnTime(clock, () => this.#startWaiting())
  }

  start(request: () => void): void {
    if (this.#waiting.length === 0 && this.#hasTime()) request()
    else this.#waiting.push(request)
  }

  #hasTime(): boolean {
    return this.#time.isLeft(turnMsMax, this.#clock.monotonicMs())
  }

  #startWaiting(): void {
    let count = 0
    while (count < this.#waiting.length && this.#hasTime()) this.#waiting[count++]?.()
    this.#waiting.splice(0, count)
  }
}
