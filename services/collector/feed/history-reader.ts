import { type Bars, barCount } from '../../core/bars/bar.ts'
import { joinSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { LaneRouter } from '../connection/lane-router.ts'
import type { WindowSender } from '../connection/window-sender.ts'
import { within } from '../series/bar-spans.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import { takeClosed } from '../series/forming.ts'
import { sourceReadsMax } from '../source.ts'
import { trimClaim } from './claims.ts'
import type { CollectionDeps } from './collection-deps.ts'
import { HistoryQueue, type HistoryUnit } from './history-queue.ts'
import type { SourceReader } from './source-reader.ts'

/** Units under way: while some wait for their acks, the source is asked for others. */
const unitsMax = 2 * sourceReadsMax

export interface HistoryReaderDeps extends Pick<CollectionDeps, 'time' | 'signal'> {
  readonly windows: WindowSender
  readonly reader: SourceReader
  readonly lanes: LaneRouter
}

/** Fills in history while the live lane is idle, unit by unit, each with its windows. */
export class HistoryReader {
  readonly #deps: HistoryReaderDeps
  readonly #queue = new HistoryQueue<CollectedSeries>()
  readonly #units: Semaphore
  #isRunning = false

  constructor(deps: HistoryReaderDeps) {
    this.#deps = deps
    this.#units = new Semaphore(unitsMax, deps.signal)
  }

  add(series: CollectedSeries, missing: readonly Span[]): void {
    this.#queue.add(series, missing)
  }

  /** Resolves when the last unit has begun; includes history that is added meanwhile. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      while (await this.#next());
    } finally {
      this.#isRunning = false
    }
  }

  async #next(): Promise<boolean> {
    if (this.#deps.signal.aborted) return false
    await this.#units.enter(1)
    const unit = this.#queue.next()
    const leave = (): void => this.#units.leave(1)
    if (unit === undefined) leave()
    // A unit that fails with the session is read again by the next one.
    else this.#read(unit).then(leave, leave)
    return unit !== undefined
  }

  async #read({ item: series, span }: HistoryUnit<CollectedSeries>): Promise<void> {
    const { windows, reader, lanes, time, signal } = this.#deps
    let read: { readonly bars: Bars; readonly derived: boolean }[] = []
    let claims: Span[] = []
    await lanes.idle(series.resolution)
    // Bars are sent after the read. While they wait for room, the source is asked for the next unit.
    await reader.read(
      series,
      span,
      async (answer) => {
        const { derived = false, complete } = answer
        const bars = takeClosed(series, { ...answer, bars: within(answer.bars, span) }, time.now())
        if (barCount(bars) > 0) read.push({ bars, derived })
        if (complete) claims.push(trimClaim(series, complete, time.now()))
      },
      () => {
        read = []
        claims = []
      },
    )
    if (signal.aborted || series.isGone) return
    const stored: Promise<void>[] = []
    for (const { bars, derived } of read) stored.push(...(await lanes.sendHistory(series, bars, derived)))
    await Promise.all(stored)
    for (const claim of series.unstored.outside(claims)) {
      await windows.send(series.name, series.resolution, claim)
      series.covered = joinSpans([...series.covered, claim])
    }
  }
}
