import { nextRevision } from '../core/revision.ts'
import type { Clock } from '../ports/clock.ts'

/** The revision of every bar that a collector or an import derived; ingest counts on where it meets an earlier one. */
export const derivedRevision = 1

/**
 * Revisions of readings: UTC milliseconds by ingest's clock, each greater than the one before, over
 * all series and sessions. So a later reading wins over an earlier one even within a millisecond.
 */
export class Stamps {
  readonly #clock: Clock
  #offsetMs = 0
  #last: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ingest's clock minus ours, as the last Welcome told. */
  set offsetMs(offsetMs: number) {
    this.#offsetMs = offsetMs
  }

  next(): number {
    this.#last = nextRevision(this.#clock.utcMs() + this.#offsetMs, this.#last)
    return this.#last
  }
}
