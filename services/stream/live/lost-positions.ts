import type { Clock } from '../../ports/clock.ts'

/** Time that the store has to show what was lost: another collector and another ingest take over in it. */
export const lostMs = 20_000
/** Maximum of that time while losses follow each other. Also the maximum duration of all reads of a hole. */
export const lostMsMax = 60_000

/** The time at which the wait for the store ends, after a loss now and the first loss of the wait. */
export const waitEndMs = (nowMs: number, begunMs: number): number =>
  Math.min(nowMs + lostMs, begunMs + lostMsMax)

interface Loss {
  /** The last position that may be lost. */
  readonly upTo: number
  /** Monotonic milliseconds of the first loss of this wait. */
  readonly begunMs: number
  /** Monotonic milliseconds at which the wait for the store ends. */
  readonly endMs: number
}

/** Positions of a feed that the bus lost, and that the store may not show yet. */
export class LostPositions {
  readonly #clock: Clock
  #loss: Loss | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Begins or extends the wait for the store. */
  add(upTo: number): void {
    const nowMs = this.#clock.monotonicMs()
    const begunMs = this.#loss && this.areAwaited ? this.#loss.begunMs : nowMs
    this.#loss = { upTo, begunMs, endMs: waitEndMs(nowMs, begunMs) }
  }

  /** The store shows everything up to this position. Returns whether it now shows all that was lost. */
  applied(position: number): boolean {
    if (this.#loss === undefined || position < this.#loss.upTo) return false
    this.#loss = undefined
    return true
  }

  /** Whether the store may not show all that was lost. */
  get areUnconfirmed(): boolean {
    return this.#loss !== undefined
  }

  /** Whether the store may soon show what was lost. */
  get areAwaited(): boolean {
    return this.#loss !== undefined && this.#clock.monotonicMs() < this.#loss.endMs
  }
}
