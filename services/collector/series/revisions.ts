import { nextRevision } from '../../core/bars/revision.ts'
import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { revisionAheadMs } from '../../wire/limits.ts'
import { type CleanSeriesId, cleanSeriesId } from './series-id.ts'

/** The revision of every derived bar. Where ingest has stored an earlier one, it assigns the next revision itself. */
export const derivedRevision = 1

/** Maximum time of a revision ahead of ingest's clock: half of what ingest accepts, because the offset is not exact. */
const aheadMaxMs = revisionAheadMs / 2

/**
 * Revisions of bars: UTC milliseconds by ingest's clock, ascending per series over all sessions. So a later
 * reading replaces an earlier one even within a millisecond. Series do not share revisions. So revisions do
 * not run ahead of the clock when thousands of series close at once. When ingest's clock was set back so far
 * that ingest would refuse the next revision, revisions restart at that clock.
 */
export class Revisions {
  /** By ingest's clock. */
  readonly #time: { utcMs(): UtcMs }
  /** By series; bounded by the catalogue's symbols and resolutions. */
  readonly #last = new Map<CleanSeriesId, number>()

  constructor(time: { utcMs(): UtcMs }) {
    this.#time = time
  }

  get nowMs(): number {
    return this.#time.utcMs()
  }

  /** The greatest revision that ingest accepts now. */
  get latest(): number {
    return this.nowMs + aheadMaxMs
  }

  next(series: { readonly symbol: string; readonly resolution: Resolution }): number {
    const id = cleanSeriesId(series)
    const last = this.#last.get(id)
    const revision = nextRevision(this.nowMs, last !== undefined && last < this.latest ? last : undefined)
    this.#last.set(id, revision)
    return revision
  }
}
