import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { spooledOf } from '../connection/outbox.ts'
import { packBars } from '../connection/pack-bars.ts'
import type { BarRouter, Routed } from '../series/bar-router.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { releaseClosed, takeClosed } from '../series/forming.ts'
import { type RawSeriesId, rawSeriesId } from '../series/series-id.ts'
import type { Reported, SourceBars, SourceSeries } from '../source.ts'
import type { Spool } from '../spool/spool.ts'
import type { FeedTime } from './feed-time.ts'

export interface ClosedBarsDeps {
  readonly spool?: Spool | undefined
  readonly router: BarRouter
  readonly time: FeedTime
}

export type SendBars = (routed: readonly Routed[]) => void

/**
 * The series of a feed, connected or not. Bars that close go to the active session. Between sessions they go into the
 * spool, in the form in which they would have been sent. The next session reads series that are not here.
 */
export class ClosedBars {
  readonly #deps: ClosedBarsDeps
  #series = new Map<RawSeriesId, CollectedSeries>()
  #send: SendBars | undefined

  constructor(deps: ClosedBarsDeps) {
    this.#deps = deps
  }

  get(of: SourceSeries): CollectedSeries | undefined {
    return this.#series.get(rawSeriesId(of))
  }

  get all(): readonly CollectedSeries[] {
    return [...this.#series.values()]
  }

  /** Series whose closed bars were all sent. */
  get live(): readonly CollectedSeries[] {
    return this.all.filter(({ isLive }) => isLive)
  }

  of(r: Resolution): readonly CollectedSeries[] {
    return this.all.filter(({ resolution }) => resolution === r)
  }

  /** Sends bars to a session from now on. Returns the series that missed no bar since the last session. */
  begin(send: SendBars): ReadonlyMap<RawSeriesId, CollectedSeries> {
    const before = this.#series
    this.#series = new Map()
    this.#send = send
    return before
  }

  /** Keeps the series that missed no bar and whose next bars the spool takes. A sent bar ahead of the clock will be rejected. */
  end(): void {
    this.#send = undefined
    const { spool, time } = this.#deps
    for (const series of this.all)
      if (!spool || !series.isLive || time.isAhead(series.sentUntil)) this.drop(series)
  }

  /** A series that replaces another reads all bars again; bars that the old one sent live are not live again. */
  put(series: CollectedSeries): void {
    const before = this.get(series)
    if (before) {
      before.isGone = true
      series.sentUntil = Math.max(series.sentUntil, before.sentUntil)
    }
    this.#series.set(rawSeriesId(series), series)
  }

  drop(of: SourceSeries): void {
    const series = this.get(of)
    if (!series) return
    series.isGone = true
    this.#series.delete(rawSeriesId(of))
  }

  /** Drops all series of a resolution if the source has missed bars of one before `from`. */
  interrupted(r: Resolution, from: FeedSeconds): void {
    const all = this.of(r)
    if (all.some(({ readAt = from }) => readAt < from)) for (const series of all) this.drop(series)
  }

  clear(): void {
    for (const series of this.all) this.drop(series)
  }

  /** Whether no series is collected: what is reported would be dropped. */
  get isEmpty(): boolean {
    return this.#series.size === 0
  }

  closed(batch: readonly SourceBars[]): Reported {
    const { spool, time, router } = this.#deps
    const now = time.now()
    const failuresBefore = spool?.failures
    const routed: Routed[] = []
    for (const given of batch) {
      const series = this.get(given)
      if (series?.isLive)
        routed.push(router.route(series, takeClosed(series, given, now), given.derived, true))
      else series?.keepWaiting(given)
    }
    this.#take(routed)
    const spooled = (spool?.written ?? Promise.resolve()).then(() => {
      if (spool?.failures !== failuresBefore) throw new Error('the spool could not be written')
    })
    // Not every source waits for it. The spool has counted and logged the failure.
    spooled.catch(() => undefined)
    return { spooled }
  }

  /** Sends bars that were kept because they were still forming. */
  release(): void {
    const { router, time } = this.#deps
    const released = releaseClosed(this.live, time.now())
    this.#take(released.map(({ series, bars, derived }) => router.route(series, bars, derived)))
  }

  #take(routed: readonly Routed[]): void {
    if (this.#send) this.#send(routed)
    else if (this.#deps.spool) this.#keep(this.#deps.spool, routed)
  }

  #keep(spool: Spool, routed: readonly Routed[]): void {
    const fresh = routed.flatMap((each) => each.fresh)
    const corrections = routed.flatMap((each) => each.corrections)
    // Ingest will reject a bar ahead of the clock, and all minutes until its time would be corrections.
    for (const { series } of fresh) if (this.#deps.time.isAhead(series.sentUntil)) this.drop(series)
    for (const [kind, list] of [
      ['live', fresh],
      ['history', corrections],
    ] as const)
      for (const packed of packBars(list.filter(({ series }) => !series.isGone)))
        spool.append(kind, spooledOf(packed)).kept.catch(() => {
          for (const { item } of packed.parts)
            if (this.get(item.series) === item.series) this.drop(item.series)
        })
  }
}
