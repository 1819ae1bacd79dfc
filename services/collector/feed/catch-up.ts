import { barCount, countUntil, sliceBars } from '../../core/bars/bar.ts'
import { subtractSpans } from '../../core/bars/coverage.ts'
import { allTimes, type Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { LaneRouter } from '../connection/lane-router.ts'
import { outside, upTo, within } from '../series/bar-spans.ts'
import { type CollectedSeries, missingHistory, refusedForAge } from '../series/collected-series.ts'
import { formingCheckMs, takeClosed } from '../series/forming.ts'
import { rawSeriesId } from '../series/series-id.ts'
import type { SourceAnswer } from '../source.ts'
import type { Claims } from './claims.ts'
import type { CollectionDeps } from './collection-deps.ts'
import type { HistoryReader } from './history-reader.ts'
import type { ReadjustedHistory } from './readjusted-history.ts'
import type { SourceReader } from './source-reader.ts'

type ReadDeps = 'definition' | 'source' | 'router' | 'time' | 'changed' | 'clock' | 'signal'

export interface CatchUpDeps extends Pick<CollectionDeps, ReadDeps> {
  readonly reader: SourceReader
  readonly lanes: LaneRouter
  readonly history: HistoryReader
  readonly claims: Claims
  readonly readjusted: ReadjustedHistory
  readonly failed: (cause: unknown) => void
}

/** Reads the bars that the series of a session missed, until each series is live. */
export class CatchUp {
  readonly #deps: CatchUpDeps

  constructor(deps: CatchUpDeps) {
    this.#deps = deps
  }

  /** Reads a source that is read in pieces: first the missed bars of all series, then their history. */
  async readMissed(list: readonly CollectedSeries[]): Promise<void> {
    const { definition, history, failed } = this.#deps
    const now = await this.#now()
    if (now === undefined) return
    const missed = list.filter(({ isLive }) => !isLive)
    await Promise.all(
      missed.map(
        (series) =>
          new Promise<void>((attempted) => {
            this.read(series, attempted).catch(failed).finally(attempted)
          }),
      ),
    )
    for (const series of list) {
      const { resolution } = series
      const missing = missingHistory(series, definition.depth[resolution], now)
      history.add(series, subtractSpans(missing, refusedForAge(definition, resolution, now)))
    }
    await history.run()
  }

  /**
   * Reads the missed bars of one series until it is live, or all bars if the source is read as a whole. Sends the bars
   * that no window covers, or all bars if the series changed. Calls `attempted` after each failed attempt.
   */
  async read(series: CollectedSeries, attempted?: () => void): Promise<void> {
    const { definition, source, time, reader, router, lanes, changed, readjusted, signal } = this.#deps
    const id = rawSeriesId(series)
    series.isLive = false
    do {
      const startedAt = time.now()
      const unkept = refusedForAge(definition, series.resolution, startedAt)
      series.unstored.addSpans(unkept)
      // A line may arrive after its minute was claimed. So bars newer than all stored ones are always sent.
      const changes = changed.get(id)
      const known = changes !== undefined ? [] : upTo(series.sentUntil, series.covered)
      const isWhole = source.capabilities.reads === 'whole'
      const span = isWhole ? allTimes : missedSpan(series, startedAt)
      const oldDay = isWhole && changes === undefined ? readjusted.dayOf(series) : undefined
      series.readAgain = false
      const claims: Span[] = []
      const stored: Promise<void>[] = []
      const take = async (answer: SourceAnswer): Promise<void> => {
        const { derived = false, complete } = answer
        if (oldDay) readjusted.keep(oldDay, answer)
        const bars = takeClosed(series, { ...answer, bars: within(answer.bars, span) }, time.now())
        const start = countUntil(bars, series.historyEnd)
        const old = outside(sliceBars(bars, 0, start), [...known, ...unkept])
        if (barCount(old) > 0) stored.push(...(await lanes.sendHistory(series, old, derived)))
        const later = sliceBars(bars, start, barCount(bars))
        stored.push(...(await lanes.sendThrottled(router.route(series, later, derived))))
        if (complete) claims.push(complete)
      }
      await reader.read(series, span, take, attempted)
      if (signal.aborted || series.isGone) return
      // While the clock is unknown, ingest refuses the last bar of each message until a later message is stored.
      const allStored = Promise.all(stored).then(() => lanes.resendUnclosed([series]))
      this.#caughtUp(series, startedAt, claims, allStored)
      const forget = (): void => {
        if (changed.get(id) === changes) changed.delete(id)
      }
      void allStored.then(forget, () => undefined)
      if (oldDay) readjusted.compare(series, oldDay).catch(this.#deps.failed)
    } while (series.readAgain)
  }

  /** Makes the series live: sends the bars that closed during the read, and later ones at once. */
  #caughtUp(
    series: CollectedSeries,
    startedAt: FeedSeconds | undefined,
    spans: readonly Span[],
    stored: Promise<void>,
  ): void {
    const { claims, router, lanes, time } = this.#deps
    series.noteRead(startedAt)
    claims.series(series, spans, stored)
    if (series.readAgain) return
    series.isLive = true
    const { waiting, waitingClaims } = series
    series.waiting = []
    series.waitingClaims = []
    const routed = waiting.map((given) =>
      router.route(series, takeClosed(series, given, time.now()), given.derived),
    )
    lanes.sendNow(routed)
    claims.series(series, waitingClaims, stored)
  }

  /** Waits until the feed's time is known; `undefined` when the session ended before. */
  async #now(): Promise<FeedSeconds | undefined> {
    const { time, clock, signal } = this.#deps
    while (time.now() === undefined && !signal.aborted) await clock.sleep(formingCheckMs, signal)
    return time.now()
  }
}

/** The times after the last bar that was sent, of a source that is read in pieces. */
function missedSpan({ historyEnd, sentUntil }: CollectedSeries, now: FeedSeconds = feedSeconds(0)): Span {
  const from = feedSeconds(Math.max(historyEnd, sentUntil) + 1)
  return { from, to: feedSeconds(Math.max(from, now + 1)) }
}
