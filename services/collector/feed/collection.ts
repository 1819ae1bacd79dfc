import { type Bars, barCount, countUntil, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { joinSpans } from '../../core/bars/coverage.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import { allTimes, type Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Clock } from '../../ports/clock.ts'
import { BackfillSender } from '../connection/backfill-sender.ts'
import { LaneRouter } from '../connection/lane-router.ts'
import { LiveSender } from '../connection/live-sender.ts'
import { Outbox, type OutboxDeps } from '../connection/outbox.ts'
import { WindowSender } from '../connection/window-sender.ts'
import { addresses, type Routed } from '../series/addressed-bars.ts'
import { outside, upTo, within } from '../series/bar-spans.ts'
import {
  type CollectedSeries,
  keepClaim,
  keepWaiting,
  missingHistory,
  noteRead,
} from '../series/collected-series.ts'
import { formingCheckMs, releaseClosed, takeClosed } from '../series/forming.ts'
import { derivedRevision, type Stamps } from '../series/stamps.ts'
import type { Source, SourceBars, SourceSeries } from '../sources/source.ts'
import { Claims } from './claims.ts'
import type { FeedTime } from './feed-time.ts'
import { HistoryReader } from './history-reader.ts'
import { SourceReader } from './source-reader.ts'

export interface CollectionDeps extends OutboxDeps {
  readonly definition: FeedDefinition
  readonly source: Source
  readonly time: FeedTime
  readonly stamps: Stamps
  readonly clock: Clock
}

/** What was missed is read once the feed's clock is known; so often it is looked. */
const tickCheckMs = 1_000

/**
 * One active session at work: reads what was missed, sends what closes, and fills in history behind
 * it. Everything it knows ends with the session; the next one begins from what ingest holds.
 */
export class Collection {
  readonly #deps: CollectionDeps
  readonly #series = new Map<string, CollectedSeries>()
  readonly #outbox: Outbox
  readonly #laneRouter: LaneRouter
  readonly #backfill: BackfillSender
  readonly #reader: SourceReader
  readonly #historyReader: HistoryReader
  readonly #claims: Claims
  readonly #outgoing: ReturnType<typeof addresses>

  constructor(deps: CollectionDeps) {
    this.#deps = deps
    const { talk, clock, signal } = deps
    const isOver = (): boolean => signal.aborted || talk.isOver
    const outbox = new Outbox(deps)
    const onForming = (series: CollectedSeries, bar: Bars): void => this.#keepForming(series, bar)
    const live = new LiveSender({ ...deps, outbox, onForming })
    const backfill = new BackfillSender({ ...deps, outbox, idle: () => live.idle() })
    const reader = new SourceReader({ ...deps, isOver })
    const outgoing = addresses(deps)
    const windows = new WindowSender(deps)
    this.#outgoing = outgoing
    this.#outbox = outbox
    this.#laneRouter = new LaneRouter({ ...deps, live, backfill, outgoing, failed: this.#failed })
    this.#backfill = backfill
    this.#reader = reader
    this.#historyReader = new HistoryReader({ ...deps, reader, live, backfill, isOver, outgoing, windows })
    this.#claims = new Claims({
      ...deps,
      windows,
      settled: () => this.#laneRouter.settled(),
      failed: this.#failed,
      seriesOf: (r) => [...this.#series.values()].filter(({ resolution }) => resolution === r),
    })
    signal.addEventListener(
      'abort',
      clock.every(formingCheckMs, () => this.#releaseForming()),
    )
  }

  get(of: SourceSeries): CollectedSeries | undefined {
    return this.#series.get(idOf(of))
  }

  /** Those of which everything that has closed was sent. */
  get live(): readonly CollectedSeries[] {
    return [...this.#series.values()].filter(({ phase }) => phase === 'live')
  }

  /** Ingest knows the symbols: what earlier sessions left in the spool goes out, before anything else. */
  sendSpooled(): void {
    this.#outbox.begin()
  }

  /** Begins with these: what was missed first, in the order given, then their history. */
  begin(list: readonly CollectedSeries[]): void {
    for (const series of list) this.#put(series)
    if (this.#deps.source.capabilities.reads === 'whole') {
      for (const series of list) this.#readWhole(series, 'uncovered').catch(this.#failed)
    } else this.#catchUpAll(list).catch(this.#failed)
  }

  /** No longer in the source's catalogue. */
  drop(isGone: (raw: string) => boolean): void {
    for (const [id, series] of this.#series) {
      if (!isGone(series.raw)) continue
      series.isGone = true
      this.#series.delete(id)
    }
  }

  /** One that takes another's place reads all of it again; what that one sent live is not live again. */
  #put(series: CollectedSeries): void {
    const before = this.#series.get(idOf(series))
    if (before) {
      before.isGone = true
      series.sentUntil = Math.max(series.sentUntil, before.sentUntil)
    }
    this.#series.set(idOf(series), series)
  }

  closed(batch: readonly SourceBars[]): void {
    const routed: Routed[] = []
    for (const given of batch) {
      const series = this.#series.get(idOf(given))
      if (!series) continue
      if (series.phase === 'live') routed.push(this.#take(series, given.bars, given.derived === true))
      else keepWaiting(series, given)
    }
    this.#laneRouter.sendNow(routed)
  }

  complete(of: SourceSeries, span: Span): void {
    const series = this.#series.get(idOf(of))
    if (series?.phase === 'live') this.#claims.series(series, [span])
    else if (series) keepClaim(series, span)
  }

  watched(r: Resolution, span: Span): void {
    if (this.#claims.watched(r, span) !== 'interrupted') return
    this.#deps.log.warn({ resolution: r }, 'the source was interrupted: what it missed is read again')
    for (const series of this.#series.values()) if (series.resolution === r) series.phase = 'queued'
    this.#deps.talk.cancel()
  }

  leftOut(of: SourceSeries, spans: readonly Span[]): void {
    this.#series.get(idOf(of))?.holes.addSpans(spans)
  }

  again(of: SourceSeries, span: Span): void {
    const series = this.#series.get(idOf(of))
    if (!series || series.phase === 'queued') return
    if (this.#deps.source.capabilities.reads === 'pieces') {
      const to = feedSeconds(Math.min(span.to, series.cut + 1))
      this.#historyReader.add(series, joinSpans([{ from: span.from, to }]))
      this.#historyReader.run().catch(this.#failed)
    } else if (series.phase === 'reading') series.readAgain = true
    else this.#readWhole(series, 'all').catch(this.#failed)
  }

  /** What fails because the session is over is read again by the next one. */
  readonly #failed = (cause: unknown): void => {
    if (!this.#isOver) this.#deps.log.error({ err: cause }, 'collecting failed')
  }

  get #isOver(): boolean {
    return this.#deps.signal.aborted || this.#deps.talk.isOver
  }

  /** Bars as the source gave them: what of them has closed. */
  #take(series: CollectedSeries, given: Bars, derived: boolean): Routed {
    return this.#laneRouter.route(series, takeClosed(series, given, derived, this.#deps.time.now()), derived)
  }

  #releaseForming(): void {
    const now = this.#deps.time.now()
    const routed: Routed[] = []
    for (const series of this.#series.values()) {
      const derived = series.forming?.derived ?? false
      const bars = series.phase === 'live' ? releaseClosed(series, now) : undefined
      if (bars) routed.push(this.#laneRouter.route(series, bars, derived))
    }
    this.#laneRouter.sendNow(routed)
  }

  /** By ingest's clock it has not closed: it goes out again a little later. */
  #keepForming(series: CollectedSeries, bar: Bars): void {
    const time = timeAt(bar, 0)
    if (series.isGone || series.sentUntil !== time) return
    series.sentUntil = time - 1
    const later = series.forming
    series.forming = undefined
    const derived = bar.revision[0] === derivedRevision
    // One that came meanwhile closes it; alone it would be refused for ever.
    if (later) this.#laneRouter.sendNow([this.#laneRouter.route(series, mergeBars(later.bars, bar), derived)])
    else series.forming = { bars: bar, derived }
  }

  async #catchUpAll(list: readonly CollectedSeries[]): Promise<void> {
    const now = await this.#now()
    if (now === undefined) return
    const missed = list.filter(({ phase }) => phase === 'queued')
    await Promise.all(
      missed.map(
        (series) =>
          new Promise<void>((attempted) => {
            this.#catchUp(series, attempted).catch(this.#failed).finally(attempted)
          }),
      ),
    )
    const { depth } = this.#deps.definition
    for (const series of list) {
      this.#historyReader.add(series, missingHistory(series, depth[series.resolution], now))
    }
    await this.#historyReader.run()
  }

  /** What the terminal has not loaded yet is asked for again; `attempted` does not wait for that. */
  async #catchUp(series: CollectedSeries, attempted: () => void): Promise<void> {
    do {
      series.readAgain = false
      const startedAt = this.#deps.time.now() ?? feedSeconds(0)
      const from = feedSeconds(Math.max(series.cut, series.sentUntil) + 1)
      const span = { from, to: feedSeconds(Math.max(from, startedAt + 1)) }
      const claims: Span[] = []
      const stored: Promise<void>[] = []
      await this.#reader.read(
        series,
        span,
        async ({ bars, derived = false, complete }) => {
          stored.push(...(await this.#laneRouter.sendInTurn(this.#take(series, within(bars, span), derived))))
          if (complete) claims.push(complete)
        },
        attempted,
      )
      if (this.#isOver || series.isGone) return
      this.#caughtUp(series, startedAt, claims, stored)
    } while (series.readAgain)
  }

  /** Everything that a source has of a series in one go; `all`: also what windows cover already. */
  async #readWhole(series: CollectedSeries, what: 'all' | 'uncovered'): Promise<void> {
    series.phase = 'queued'
    series.readAgain = what === 'all'
    do {
      // A line may come after its minute was claimed: bars newer than all that is stored are sent.
      const known = series.readAgain ? [] : upTo(series.sentUntil, series.covered)
      series.readAgain = false
      const startedAt = this.#deps.time.now()
      const claims: Span[] = []
      const stored: Promise<void>[] = []
      await this.#reader.read(series, allTimes, async ({ bars: given, derived = false, complete }) => {
        const bars = takeClosed(series, given, derived, this.#deps.time.now())
        const start = countUntil(bars, series.cut)
        const old = outside(sliceBars(bars, 0, start), known)
        if (barCount(old) > 0)
          stored.push(...(await this.#backfill.send([this.#outgoing(series, old, derived)])))
        const later = sliceBars(bars, start, barCount(bars))
        stored.push(...(await this.#laneRouter.sendInTurn(this.#laneRouter.route(series, later, derived))))
        if (complete) claims.push(complete)
      })
      if (this.#isOver || series.isGone) return
      this.#caughtUp(series, startedAt, claims, stored)
    } while (series.readAgain)
  }

  /** From here on what closes goes out at once, after what closed while the series was read. */
  #caughtUp(
    series: CollectedSeries,
    startedAt: FeedSeconds | undefined,
    claims: readonly Span[],
    stored: readonly Promise<void>[],
  ): void {
    noteRead(series, startedAt)
    this.#claims.series(series, claims, stored)
    if (series.readAgain) return
    series.phase = 'live'
    const { waiting, waitingClaims } = series
    series.waiting = []
    series.waitingCount = 0
    series.waitingClaims = []
    this.closed(waiting)
    this.#claims.series(series, waitingClaims, stored)
  }

  /** The feed's time, as soon as there is one. */
  async #now(): Promise<FeedSeconds | undefined> {
    const { time, clock, signal } = this.#deps
    while (time.now() === undefined && !this.#isOver) await clock.sleep(tickCheckMs, signal)
    return time.now()
  }
}

const idOf = ({ raw, resolution }: SourceSeries): string => `${resolution} ${raw}`
