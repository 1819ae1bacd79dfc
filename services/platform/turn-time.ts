import type { Clock } from '../ports/clock.ts'

/** Limits how long one kind of work may start in a turn of the event loop. Time counts from the first start in the turn. */
export class TurnTime {
  readonly #clock: Clock
  readonly #onNextTurn: () => void
  #beganAt: number | undefined

  /** When `isLeft` was called in a turn, `onNextTurn` is called in the next one. */
  constructor(clock: Clock, onNextTurn: () => void) {
    this.#clock = clock
    this.#onNextTurn = onNextTurn
  }

  /** Whether less than `ms` passed between the first call in this turn and `now`, in monotonic milliseconds. */
  isLeft(ms: number, now: number): boolean {
    if (this.#beganAt === undefined) {
      this.#beganAt = now
      this.#clock.soon(() => {
        this.#beganAt = undefined
        this.#onNextTurn()
      })
    }
    return now < this.#beganAt + ms
  }
}
