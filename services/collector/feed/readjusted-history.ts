import { type Bars, barCount, noBars, sliceBars } from '../../core/bars/bar.ts'
import { comparedBarsMax, comparedSpan, readjustedClosesMin } from '../../core/bars/readjustment.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import type { Span } from '../../core/bars/window.ts'
import { daySeconds } from '../../core/clocks/calendar.ts'
import { feedSeconds, toSeconds } from '../../core/clocks/feed-clock.ts'
import type { LaneRouter } from '../connection/lane-router.ts'
import { outside, within } from '../series/bar-spans.ts'
import { type CollectedSeries, refusedForAge } from '../series/collected-series.ts'
import { rawSeriesId } from '../series/series-id.ts'
import type { SourceAnswer } from '../source.ts'
import type { CollectionDeps } from './collection-deps.ts'
import type { SourceReader } from './source-reader.ts'

/** Minimum time between two comparisons of a source that is read in pieces. */
const compareMs = 10_000

type SharedDeps = Omit<CollectionDeps, 'router' | 'client' | 'spool' | 'metrics'>

export interface ReadjustedHistoryDeps extends SharedDeps {
  readonly reader: SourceReader
  readonly lanes: LaneRouter
  /** Reads a series again as a whole: a source that is read as a whole. */
  readonly readWhole: (series: CollectedSeries) => Promise<void>
  readonly failed: (cause: unknown) => void
}

/** An old day of a series, which is sent again although it is covered. */
export interface OldDay {
  readonly span: Span
  bars: Bars
  derived: boolean
}

/**
 * Finds history that the terminal re-adjusted, such as that of a share after a split: sends one old day of each series
 * again, and the Ack says how many closes differ by one ratio. Then all series of the symbol are read again.
 */
export class ReadjustedHistory {
  readonly #deps: ReadjustedHistoryDeps
  #isReading = false

  constructor(deps: ReadjustedHistoryDeps) {
    this.#deps = deps
    const { source, clock, signal } = deps
    if (!source.capabilities.readjusts || source.capabilities.reads === 'whole') return
    const stop = clock.every(compareMs, () => {
      this.#compareNext().catch(deps.failed)
    })
    signal.addEventListener('abort', stop)
  }

  /** Continues what an earlier session left. */
  begin(): void {
    this.#readAgain().catch(this.#deps.failed)
  }

  /** The old day of the series that is to be compared now, if any. Its newest day may be corrected and is none. */
  dayOf(series: CollectedSeries): OldDay | undefined {
    const { source, readjustments } = this.#deps
    const id = rawSeriesId(series)
    const [first, last] = [series.covered[0], series.covered.at(-1)]
    if (!source.capabilities.readjusts || !first || !last || !readjustments.isDue(id, this.#today))
      return undefined
    const old = { from: first.from, to: feedSeconds(last.to - daySeconds) }
    const day = comparedSpan(old, series.resolution, this.#today)
    return day && { span: day, bars: noBars, derived: false }
  }

  keep(day: OldDay, { bars, derived = false }: SourceAnswer): void {
    day.bars = sliceBars(mergeBars(day.bars, within(bars, day.span)), 0, comparedBarsMax)
    day.derived ||= derived
  }

  /** Sends the day, and reads the symbol again if it was re-adjusted. */
  async compare(series: CollectedSeries, day: OldDay): Promise<void> {
    const { bars, lanes, log, readjustments } = this.#deps
    if (barCount(day.bars) < readjustedClosesMin) return
    let closes = 0
    const stored = await lanes.sendHistory(series, day.bars, day.derived, ({ sameRatio }) => {
      closes = Math.max(closes, sameRatio ?? 0)
    })
    await Promise.all(stored)
    readjustments.compared(rawSeriesId(series), this.#today)
    if (closes < readjustedClosesMin) return
    const { raw, resolution } = series
    const symbols = new Set(bars.all.map((each) => each.raw)).size
    const outcome = readjustments.note(raw, this.#today, symbols)
    if (outcome === 'nothing') return
    const fields = { raw, resolution, closes, from: day.bars.time[0] }
    if (outcome === 'held')
      log.error(fields, 'too many symbols re-adjusted in one day; none is read again until `fxd backfill`')
    else log.warn(fields, 'history re-adjusted by the terminal; reading the symbol again')
    await this.#readAgain()
  }

  get #today(): number {
    return Math.floor(toSeconds(this.#deps.time.utcMs()) / daySeconds)
  }

  /** Compares the next series of the day, finest first. */
  async #compareNext(): Promise<void> {
    const { bars, reader, readjustments } = this.#deps
    if (this.#isReading) return
    for (const series of bars.live) {
      const day = this.dayOf(series)
      if (!day) continue
      readjustments.compared(rawSeriesId(series), this.#today)
      await reader.read(series, day.span, async (answer) => this.keep(day, answer))
      return this.compare(series, day)
    }
  }

  /** Reads the symbols again, one series at a time, oldest bars first. Windows stay. */
  async #readAgain(): Promise<void> {
    const { bars, source, readjustments, signal } = this.#deps
    if (this.#isReading) return
    this.#isReading = true
    try {
      for (let raw = readjustments.next; raw !== undefined && !signal.aborted; raw = readjustments.next) {
        for (const series of bars.all.filter((each) => each.raw === raw))
          await (source.capabilities.reads === 'whole'
            ? this.#deps.readWhole(series)
            : this.#readPieces(series))
        if (!signal.aborted) readjustments.done(raw)
      }
    } finally {
      this.#isReading = false
    }
  }

  async #readPieces(series: CollectedSeries): Promise<void> {
    const { definition, lanes, reader, time } = this.#deps
    const from = series.covered[0]?.from ?? series.historyEnd
    const to = Math.max(series.covered.at(-1)?.to ?? from, series.sentUntil + 1)
    const span = { from, to: feedSeconds(to) }
    const unkept = refusedForAge(definition, series.resolution, time.now())
    const stored: Promise<void>[] = []
    await reader.read(series, span, async ({ bars, derived = false }) => {
      const kept = outside(within(bars, span), unkept)
      if (barCount(kept) > 0) stored.push(...(await lanes.sendHistory(series, kept, derived)))
    })
    await Promise.all(stored)
  }
}
