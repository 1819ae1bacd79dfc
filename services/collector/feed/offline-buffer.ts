import { type Bars, barCount, timeAt } from '../../core/bars/bar.ts'
import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'
import { spooledOf } from '../connection/outbox.ts'
import { messageBarsMax, type Packed, packBars } from '../connection/pack-bars.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { formingCheckMs, releaseClosed, takeClosed } from '../series/forming.ts'
import { barPreparer, type PreparedBars, type Routed, route } from '../series/prepared-bars.ts'
import { type RawSeriesId, rawSeriesId } from '../series/series-id.ts'
import type { Stamps } from '../series/stamps.ts'
import type { SourceBars, SourceSeries } from '../source.ts'
import type { Spool } from '../spool/spool.ts'
import type { FeedTime } from './feed-time.ts'

export interface OfflineBufferDeps {
  readonly spool: Spool
  readonly time: FeedTime
  readonly stamps: Stamps
  readonly clock: Clock
  readonly log: Log
}

/** Writes bars that close between two sessions to the spool, in the form in which they would have been sent. */
export class OfflineBuffer {
  readonly #deps: OfflineBufferDeps
  readonly #series = new Map<RawSeriesId, CollectedSeries>()
  readonly #prepare: ReturnType<typeof barPreparer>
  #cancel: Cancel | undefined

  constructor(deps: OfflineBufferDeps) {
    this.#deps = deps
    this.#prepare = barPreparer(deps)
  }

  get isRunning(): boolean {
    return this.#cancel !== undefined
  }

  /**
   * Starts with the series that had missed no bar when the session ended. It leaves out series with a sent bar ahead of
   * the clock. The next session reads all series that are left out. No effect while it runs.
   */
  start(series: readonly CollectedSeries[]): void {
    if (this.isRunning) return
    for (const each of series)
      if (!this.#deps.time.isAhead(each.sentUntil)) this.#series.set(rawSeriesId(each), each)
    this.#cancel = this.#deps.clock.every(formingCheckMs, () => this.#release())
  }

  /** Stops spooling. Returns the series that have missed no bar until now; none when it was not running. */
  stop(): readonly CollectedSeries[] {
    const series = [...this.#series.values()]
    this.#series.clear()
    this.#cancel?.()
    this.#cancel = undefined
    return series
  }

  closed(batch: readonly SourceBars[]): void {
    const routed: Routed[] = []
    for (const given of batch) {
      const { bars, derived = false } = given
      const series = this.#series.get(rawSeriesId(given))
      if (!series) continue
      const { time } = this.#deps
      const closed = takeClosed(series, bars, derived, time.now())
      const newest = barCount(closed) > 0 ? timeAt(closed, barCount(closed) - 1) : undefined
      // Ingest will reject this bar, and all minutes until its time would be corrections. The next session reads them.
      if (newest !== undefined && time.isAhead(newest)) this.drop(series)
      else routed.push(this.#route(series, closed, derived))
    }
    this.#keep(routed)
  }

  /** Drops series that missed bars in an interruption: the next session reads them. */
  watched(r: Resolution, { from }: Span): void {
    for (const series of this.#series.values())
      if (series.resolution === r && (series.readAt === undefined || from > series.readAt)) this.drop(series)
  }

  drop(series: SourceSeries): void {
    this.#series.delete(rawSeriesId(series))
  }

  #release(): void {
    const released = releaseClosed(this.#series.values(), this.#deps.time.now())
    this.#keep(released.map(({ series, bars, derived }) => this.#route(series, bars, derived)))
  }

  #route(series: CollectedSeries, bars: Bars, derived: boolean): Routed {
    return route(series, bars, (part) => this.#prepare(series, part, derived))
  }

  #keep(routed: readonly Routed[]): void {
    const fresh = routed.flatMap((each) => each.fresh)
    const corrections = routed.flatMap((each) => each.corrections)
    for (const packed of packBars(fresh, messageBarsMax)) this.#append('live', packed)
    for (const packed of packBars(corrections, messageBarsMax)) this.#append('history', packed)
  }

  /** Drops the series of a batch that the spool rejects: the next session reads these bars, and all later ones. */
  #append(kind: 'live' | 'history', packed: Packed<PreparedBars>): void {
    const { kept } = this.#deps.spool.append(kind, spooledOf(packed))
    kept.catch(() => {
      for (const { item } of packed.parts) this.drop(item.series)
    })
  }
}
