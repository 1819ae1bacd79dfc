import { nextRevision } from '../../core/bars/revision.ts'
import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { revisionAheadMs } from '../../wire/limits.ts'
import { type CleanSeriesId, cleanSeriesId } from './series-id.ts'

/** The revision of every derived bar. Where ingest has stored an earlier one, it assigns the next revision itself. */
export const derivedRevision = 1

/** Maximum time of a revision ahead of ingest's clock: half of what ingest accepts, because the offset is not exact. */
const aheadMaxMs = revisionAheadMs / 2

/** The greatest revision that ingest accepts at this time of its clock. */
export const latestRevision = (nowMs: number): number => nowMs + aheadMaxMs

/**
 * Revisions of bars: UTC milliseconds by ingest's clock, ascending per series over all sessions. So a later
 * reading replaces an earlier one even within a millisecond. Series do not share revisions. So revisions do
 * not run ahead of the clock when thousands of series close at once. When ingest's clock was set back so far
 * that ingest would refuse the next revision, revisions restart at that clock.
 */
export class Revisions {
  readonly #time: { utcMs(): UtcMs }
  /** By series; bounded by the catalogue's symbols and resolutions. */
  readonly #last = new Map<CleanSeriesId, number>()

  constructor(time: { utcMs(): UtcMs }) {
    this.#time = time
  }

  next(series: { readonly symbol: string; readonly resolution: Resolution }): number {
    const id = cleanSeriesId(series)
    const last = this.#last.get(id)
    const nowMs = this.#time.utcMs()
    const isUsable = last !== undefined && last < latestRevision(nowMs)
    const revision = nextRevision(nowMs, isUsable ? last : undefined)
    this.#last.set(id, revision)
    return revision
  }
}
