import { FairQueue, type Reader } from '../../core/fair-queue.ts'
import type { Clock } from '../../ports/clock.ts'
import { afterTurns } from '../after-turns.ts'
import { TurnTime } from '../turn-time.ts'

/** Maximum milliseconds for starts of requests per turn of the event loop. */
export const turnMsMax = 5

interface WaitingRequest {
  readonly reader: Reader
  readonly start: () => void
}

/**
 * Starts requests. `turnMsMax` after the first start in a turn of the event loop, further requests wait for a later turn.
 * If others wait, the promises of a start count too. Without the limit one client with many connections stops all
 * sockets, because its requests arrive in one turn. Callers take turns, since a request would otherwise wait for
 * thousands of another caller.
 */
export class RequestTurns {
  readonly #clock: Clock
  readonly #time: TurnTime
  /** The maxima of connections, and of requests of each, bound it. */
  readonly #waiting = new FairQueue<WaitingRequest>(Number.POSITIVE_INFINITY)

  constructor(clock: Clock) {
    this.#clock = clock
    this.#time = new TurnTime(clock, () => {
      if (this.#waiting.size > 0) afterTurns(clock, () => void this.#startWaiting())
    })
  }

  /** Starts the request now or in a later turn. `callerOf` is called only if it waits. */
  start(request: () => void, callerOf: () => string): void {
    if (this.#waiting.size === 0 && this.#hasTime()) request()
    else this.#waiting.add({ reader: { key: callerOf(), sinceMs: 0 }, start: request })
  }

  #hasTime(): boolean {
    return this.#time.isLeft(turnMsMax, this.#clock.monotonicMs())
  }

  async #startWaiting(): Promise<void> {
    while (this.#waiting.size > 0 && this.#hasTime()) {
      this.#waiting.take()?.next.start()
      await Promise.resolve()
    }
  }
}
