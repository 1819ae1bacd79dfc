import type { Clock } from '../../ports/clock.ts'

/** The time that one kind of work takes of a turn of the event loop. Work that exceeds it waits for the next turn. */
export class TurnTime {
  readonly #clock: Clock
  readonly #onNextTurn: () => void
  #beganAt: number | undefined

  /** `onNextTurn` is called in the turn after one in which `isLeft` was called. */
  constructor(clock: Clock, onNextTurn: () => void) {
    this.#clock = clock
    this.#onNextTurn = onNextTurn
  }

  /** Whether the work of this turn began less than `ms` before `now`, in monotonic milliseconds. The first call begins it. */
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
