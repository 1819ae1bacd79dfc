import { nextRevision } from '../../core/bars/revision.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Clock } from '../../ports/clock.ts'

/** The revision of every bar that a collector or an import derived; ingest counts on where it meets an earlier one. */
export const derivedRevision = 1

/**
 * Revisions of readings: UTC milliseconds by ingest's clock, each greater than the one before of its
 * series, over all sessions. So a later reading wins over an earlier one even within a millisecond, and a
 * minute in which thousands of series close runs no second ahead of the clock.
 */
export class Stamps {
  readonly #clock: Clock
  #offsetMs = 0
  /** By series: as many as a catalogue lists, at its resolutions. */
  readonly #last = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Ingest's clock minus ours, as the last Welcome told. */
  set offsetMs(offsetMs: number) {
    this.#offsetMs = offsetMs
  }

  next({ symbol, resolution }: { readonly symbol: string; readonly resolution: Resolution }): number {
    const id = `${resolution} ${symbol}`
    const revision = nextRevision(this.#clock.utcMs() + this.#offsetMs, this.#last.get(id))
    this.#last.set(id, revision)
    return revision
  }
}
