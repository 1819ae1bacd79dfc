import { Overloaded, Unavailable } from '../core/failure.ts'
import { FairQueue, type Reader } from '../core/fair-queue.ts'
import type { Clock } from '../ports/clock.ts'

/** Maximum answers of one key that wait; `KeyConcurrency` lets far fewer run. */
const waitingMax = 1_024

interface Waiting {
  readonly reader: Reader
  readonly start: () => void
  readonly fail: (cause: Unavailable) => void
}

/**
 * Turns for answers that take milliseconds of CPU without a pause. One starts per turn of the event loop, and keys
 * take turns. Otherwise 16 answers of one key, made in one turn, would delay all other clients.
 */
export class FairTurns {
  readonly #clock: Clock
  readonly #queue = new FairQueue<Waiting>(waitingMax)
  #hasStarted = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the answer may be made. Rejects with `Overloaded` at a limit, and with `Unavailable` after a disconnect. */
  enter(reader: Reader): Promise<void> {
    return new Promise((resolve, reject) => {
      const dropped = this.#queue.add({ reader, start: resolve, fail: reject })
      dropped?.fail(new Overloaded('capacity for a request of the key'))
      this.#startNext()
    })
  }

  #startNext(): void {
    if (this.#hasStarted) return
    let next = this.#queue.take()?.next
    for (; next?.reader.isGone; next = this.#queue.take()?.next)
      next.fail(new Unavailable('a client that waits'))
    if (!next) return
    this.#hasStarted = true
    next.start()
    this.#clock.soon(() => {
      this.#hasStarted = false
      this.#startNext()
    })
  }
}
