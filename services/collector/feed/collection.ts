import { type Bars, barCount } from '../../core/bars/bar.ts'
import { joinSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import { LaneRouter } from '../connection/lane-router.ts'
import type { OutboxDeps } from '../connection/outbox.ts'
import type { SessionClient } from '../connection/session-client.ts'
import { WindowSender } from '../connection/window-sender.ts'
import { type CollectedSeries, keepClaim, keepWaiting } from '../series/collected-series.ts'
import { formingCheckMs, releaseClosed, takeClosed } from '../series/forming.ts'
import { cellsOf } from '../series/holes.ts'
import type { Routed } from '../series/prepared-bars.ts'
import { type RawSeriesId, rawSeriesId } from '../series/series-id.ts'
import type { Stamps } from '../series/stamps.ts'
import type { Source, SourceBars, SourceSeries } from '../source.ts'
import { CatchUp } from './catch-up.ts'
import { Claims } from './claims.ts'
import type { FeedTime } from './feed-time.ts'
import { HistoryReader } from './history-reader.ts'
import { SourceReader } from './source-reader.ts'

/** Interval at which refused history is sent again, once the time is known. */
const resendMs = 10_000

export interface CollectionDeps extends OutboxDeps {
  readonly definition: FeedDefinition
  readonly source: Source
  readonly time: FeedTime
  /** How often each series changed as a whole, of those that no session has read and stored since. */
  readonly changed: Map<RawSeriesId, number>
  readonly stamps: Stamps
  readonly clock: Clock
}

/**
 * The work of one active session: reads missed bars, sends bars that close, and then fills in history.
 * Its state ends with the session. The next session begins from what ingest has stored.
 */
export class Collection {
  readonly #client: SessionClient
  readonly #log: Log
  readonly #source: Source
  readonly #time: FeedTime
  readonly #isOver: () => boolean
  readonly #series = new Map<RawSeriesId, CollectedSeries>()
  readonly #lanes: LaneRouter
  readonly #claims: Claims
  readonly #history: HistoryReader
  readonly #catchUp: CatchUp

  constructor(deps: CollectionDeps) {
    const { client, clock, signal } = deps
    this.#client = client
    this.#log = deps.log
    this.#source = deps.source
    this.#time = deps.time
    const isOver = (): boolean => signal.aborted || client.isOver
    const failed = this.#failed
    const lanes = new LaneRouter({ ...deps, failed })
    const reader = new SourceReader({ ...deps, isOver })
    const windows = new WindowSender(deps)
    const claims = new Claims({
      ...deps,
      windows,
      settled: () => lanes.settled(),
      failed,
      seriesOf: (r) => [...this.#series.values()].filter(({ resolution }) => resolution === r),
    })
    const history = new HistoryReader({ ...deps, reader, lanes, windows, isOver })
    this.#isOver = isOver
    this.#lanes = lanes
    this.#claims = claims
    this.#history = history
    this.#catchUp = new CatchUp({ ...deps, reader, lanes, history, claims, isOver, failed })
    for (const stop of [
      clock.every(formingCheckMs, () => this.#releaseForming()),
      clock.every(resendMs, () => this.#resendUnclosed()),
    ])
      signal.addEventListener('abort', stop)
  }

  get(of: SourceSeries): CollectedSeries | undefined {
    return this.#series.get(rawSeriesId(of))
  }

  /** Series whose closed bars were all sent. */
  get live(): readonly CollectedSeries[] {
    return [...this.#series.values()].filter(({ phase }) => phase === 'live')
  }

  /** Sends the batches that earlier sessions left in the spool, before all others. Ingest must know the symbols. */
  sendSpooled(): void {
    this.#lanes.begin()
  }

  /** Starts these series: reads their missed bars in the given order, then their history. */
  begin(list: readonly CollectedSeries[]): void {
    for (const series of list) this.#put(series)
    if (this.#source.capabilities.reads === 'whole') {
      for (const series of list) this.#catchUp.readWhole(series).catch(this.#failed)
    } else this.#catchUp.readMissed(list).catch(this.#failed)
  }

  /** Removes series that are no longer in the source's catalogue. */
  drop(isGone: (raw: string) => boolean): void {
    for (const [id, series] of this.#series) {
      if (!isGone(series.raw)) continue
      series.isGone = true
      this.#series.delete(id)
    }
  }

  /** A series that replaces another reads all bars again; bars that the old one sent live are not live again. */
  #put(series: CollectedSeries): void {
    const before = this.#series.get(rawSeriesId(series))
    if (before) {
      before.isGone = true
      series.sentUntil = Math.max(series.sentUntil, before.sentUntil)
    }
    this.#series.set(rawSeriesId(series), series)
  }

  closed(batch: readonly SourceBars[]): void {
    const routed: Routed[] = []
    for (const given of batch) {
      const series = this.#series.get(rawSeriesId(given))
      if (!series) continue
      if (series.phase === 'live') routed.push(this.#take(series, given.bars, given.derived === true))
      else keepWaiting(series, given)
    }
    this.#lanes.sendNow(routed)
  }

  complete(of: SourceSeries, span: Span): void {
    const series = this.#series.get(rawSeriesId(of))
    if (series?.phase === 'live') this.#claims.series(series, [span])
    else if (series) keepClaim(series, span)
  }

  watched(r: Resolution, span: Span): void {
    if (this.#claims.watched(r, span) !== 'interrupted') return
    this.#log.warn({ resolution: r }, 'source interrupted; a new session reads the missed bars')
    for (const series of this.#series.values()) if (series.resolution === r) series.phase = 'queued'
    this.#client.cancel()
  }

  rejected(of: SourceSeries, spans: readonly Span[]): void {
    this.#series.get(rawSeriesId(of))?.holes.addSpans(spans)
  }

  readAgain(of: SourceSeries, span: Span): void {
    const series = this.#series.get(rawSeriesId(of))
    if (!series) return
    if (this.#source.capabilities.reads === 'pieces') {
      if (series.phase === 'queued') return
      const to = feedSeconds(Math.min(span.to, series.historyEnd + 1))
      this.#history.add(series, joinSpans([{ from: span.from, to }]))
      this.#history.run().catch(this.#failed)
    } else if (series.phase === 'live') this.#catchUp.readWhole(series).catch(this.#failed)
    else series.readAgain = true
  }

  /** Failures caused by the session's end are not logged: the next session reads these bars again. */
  readonly #failed = (cause: unknown): void => {
    if (!this.#isOver())
      this.#log.error({ err: cause }, 'failed to read or send bars or windows; the next session retries')
  }

  /** Routes those of the reported bars that have closed. */
  #take(series: CollectedSeries, given: Bars, derived: boolean): Routed {
    return this.#lanes.route(series, takeClosed(series, given, derived, this.#time.now()), derived, true)
  }

  #releaseForming(): void {
    const live = [...this.#series.values()].filter(({ phase }) => phase === 'live')
    const released = releaseClosed(live, this.#time.now())
    this.#lanes.sendNow(released.map(({ series, bars, derived }) => this.#lanes.route(series, bars, derived)))
  }

  /** Ingest refused this history while it did not know the time. It gets the time with a heartbeat. */
  #resendUnclosed(): void {
    const left = this.live.filter(({ unclosed }) => barCount(unclosed) > 0)
    if (left.length === 0 || this.#time.now() === undefined) return
    const cells = left.map(({ unclosed, resolution }) => cellsOf(unclosed, resolution))
    const stored = this.#lanes.resendUnclosed(left)
    stored.catch(this.#failed)
    left.forEach((series, i) => this.#claims.series(series, cells[i] ?? [], [stored]))
  }
}
