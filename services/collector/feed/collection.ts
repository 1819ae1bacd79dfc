import { barCount } from '../../core/bars/bar.ts'
import { joinSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { LaneRouter } from '../connection/lane-router.ts'
import { WindowSender } from '../connection/window-sender.ts'
import type { Routed } from '../series/bar-router.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { rawSeriesId } from '../series/series-id.ts'
import { cellsOf } from '../series/unstored-spans.ts'
import type { SourceSeries } from '../source.ts'
import { CatchUp } from './catch-up.ts'
import { Claims } from './claims.ts'
import type { CollectionDeps } from './collection-deps.ts'
import { HistoryReader } from './history-reader.ts'
import { ReadjustedHistory } from './readjusted-history.ts'
import { SourceReader } from './source-reader.ts'

/** Interval at which refused history is sent again, once the time is known. */
const resendMs = 10_000

/** The work of one active session: sends bars that close, reads missed bars, and then fills in history. */
export class Collection {
  readonly #deps: Pick<CollectionDeps, 'bars' | 'changed' | 'client' | 'log' | 'signal' | 'source' | 'time'>
  readonly #lanes: LaneRouter
  readonly #claims: Claims
  readonly #history: HistoryReader
  readonly #catchUp: CatchUp
  readonly #readjusted: ReadjustedHistory

  /** Sends the batches that earlier sessions left in the spool, before all others. Ingest must know the symbols. */
  constructor(deps: CollectionDeps) {
    this.#deps = deps
    const { clock, signal } = deps
    const failed = this.#failed
    const lanes = new LaneRouter({ ...deps, failed })
    const reader = new SourceReader(deps)
    const windows = new WindowSender(deps)
    const claims = new Claims({ ...deps, windows, settled: (r) => lanes.settled(r), failed })
    const history = new HistoryReader({ ...deps, reader, lanes, windows })
    this.#lanes = lanes
    this.#claims = claims
    this.#history = history
    const readWhole = (series: CollectedSeries): Promise<void> => this.#readWhole(series)
    const readjusted = new ReadjustedHistory({ ...deps, reader, lanes, readWhole, failed })
    this.#readjusted = readjusted
    this.#catchUp = new CatchUp({ ...deps, reader, lanes, history, claims, readjusted, failed })
    const stop = clock.every(resendMs, () => this.#resendUnclosed())
    signal.addEventListener('abort', stop)
  }

  sendNow(routed: readonly Routed[]): void {
    this.#lanes.sendNow(routed)
  }

  /** Starts these series: reads their missed bars in the given order, then their history. */
  begin(list: readonly CollectedSeries[]): void {
    const { bars, source } = this.#deps
    for (const series of list) bars.put(series)
    if (source.capabilities.reads === 'whole') {
      for (const series of list) this.#catchUp.read(series).catch(this.#failed)
    } else this.#catchUp.readMissed(list).catch(this.#failed)
    this.#readjusted.begin()
  }

  complete(of: SourceSeries, span: Span): void {
    const series = this.#deps.bars.get(of)
    if (series?.isLive) this.#claims.series(series, [span])
    else series?.keepClaim(span)
  }

  watched(r: Resolution, span: Span, late?: ReadonlySet<string>): void {
    if (this.#claims.watched(r, span, late) !== 'interrupted') return
    const { bars, client, log } = this.#deps
    log.warn({ resolution: r }, 'source interrupted; a new session reads the missed bars')
    bars.interrupted(r, span.from)
    client.cancel()
  }

  readAgain(of: SourceSeries, span: Span): void {
    const { bars, source } = this.#deps
    const series = bars.get(of)
    if (!series) return
    if (source.capabilities.reads === 'pieces') {
      const to = feedSeconds(Math.min(span.to, series.historyEnd + 1))
      this.#history.add(series, joinSpans([{ from: span.from, to }]))
      this.#history.run().catch(this.#failed)
    } else if (series.isLive) this.#catchUp.read(series).catch(this.#failed)
    else series.readAgain = true
  }

  /** A series that was re-adjusted counts as changed until all of it is stored, in later sessions too. */
  async #readWhole(series: CollectedSeries): Promise<void> {
    const { changed } = this.#deps
    const id = rawSeriesId(series)
    changed.set(id, (changed.get(id) ?? 0) + 1)
    if (series.isLive) await this.#catchUp.read(series)
    else series.readAgain = true
  }

  /** Failures caused by the session's end are not logged: the next session reads these bars again. */
  readonly #failed = (cause: unknown): void => {
    if (!this.#deps.signal.aborted)
      this.#deps.log.error({ err: cause }, 'failed to read or send bars or windows; the next session retries')
  }

  /** Ingest refused this history while it did not know the time. It gets the time with a heartbeat. */
  #resendUnclosed(): void {
    const { bars, time } = this.#deps
    const left = bars.live.filter(({ unclosed }) => barCount(unclosed) > 0)
    if (left.length === 0 || time.now() === undefined) return
    const cells = left.map(({ unclosed, resolution }) => cellsOf(unclosed, resolution))
    const stored = this.#lanes.resendUnclosed(left)
    stored.catch(this.#failed)
    left.forEach((series, i) => this.#claims.series(series, cells[i] ?? [], stored))
  }
}
