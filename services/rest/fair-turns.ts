import { Overloaded, Unavailable } from '../core/failure.ts'
import { FairQueue, type Reader } from '../core/fair-queue.ts'
import { afterTurns } from '../platform/after-turns.ts'
import type { Clock } from '../ports/clock.ts'

/** Maximum pieces of work of one key that wait; `KeyConcurrency` lets far fewer run. */
const waitingMax = 1_024
/** Maximum wait; less than a request's deadline of two seconds, so that the failure can still be answered. */
export const turnWaitMs = 1_500

interface Waiting {
  readonly reader: Reader
  readonly start: () => void
  readonly fail: (cause: Unavailable) => void
}

/**
 * Turns for work that takes milliseconds of CPU without a pause: a list, or a slice of a long answer. 16 turns of the
 * event loop, or 1 ms, pass between two starts, and keys take turns. Otherwise the answers of a few keys, made in one
 * turn, would delay all other clients.
 */
export class FairTurns {
  readonly #clock: Clock
  readonly #queue = new FairQueue<Waiting>(waitingMax)
  #hasStarted = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when the work may begin. Rejects with `Overloaded` at a limit, and with `Unavailable` after a disconnect. */
  enter(reader: Reader): Promise<void> {
    return new Promise((resolve, reject) => {
      const refuse = ({ fail }: Waiting): void => fail(new Overloaded('capacity for a request of the key'))
      const cancel = this.#clock.after(turnWaitMs, () => {
        if (this.#queue.delete(waiting)) refuse(waiting)
      })
      const waiting: Waiting = {
        reader,
        start() {
          cancel()
          resolve()
        },
        fail(cause) {
          cancel()
          reject(cause)
        },
      }
      const dropped = this.#queue.add(waiting)
      if (dropped) refuse(dropped)
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
    afterTurns(this.#clock, () => {
      this.#hasStarted = false
      this.#startNext()
    })
  }
}
