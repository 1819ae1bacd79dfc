import type { ImportOutcome } from '../../collector/feed/import-session.ts'
import { UnstoredSpans } from '../../collector/series/unstored-spans.ts'
import {
  allocateBars,
  type Bars,
  barCount,
  copyBars,
  pickBars,
  sliceBars,
  timeAt,
} from '../../core/bars/bar.ts'
import { hasEnded } from '../../core/bars/closed.ts'
import { BarClusters } from '../../core/bars/clusters.ts'
import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import { type FileTimes, isWhole } from './file/file-times.ts'
import type { LineBars } from './file/read-lines.ts'

/** Maximum unacknowledged batches: enough that neither side waits for the other. */
const inFlightMax = 6

export interface SentCounts {
  accepted: number
  revised: number
  unchanged: number
  /** Bars that have not closed; a later import stores them. */
  forming: number
  refused: number
}

export interface SeriesOptions extends FileTimes {
  readonly resolution: Resolution
  readonly maxGapSeconds: number
  readonly delaySeconds: number
  /** Resolves once the batch is stored. */
  readonly send: (bars: Bars) => Promise<ImportOutcome>
  /** Times of bars that cannot be sent. */
  readonly holes: UnstoredSpans
  readonly onRefused: (line: number, reason: string) => void
  /** Called with the number of further bars that are done. */
  readonly onDone: (count: number) => void
}

interface Batch {
  readonly bars: LineBars
  /** Whether the last bar is repeated in the next batch, because only a later bar shows that it has closed. */
  readonly continues: boolean
  /** Whether the first bar was the last one of the batch before. */
  readonly repeats: boolean
}

/** Sends the bars of one series, ascending, in batches, and counts the results. */
export class SeriesSender {
  readonly counts: SentCounts = { accepted: 0, revised: 0, unchanged: 0, forming: 0, refused: 0 }
  /** Why the service refused the first bar that it refused. */
  firstRefusal: string | undefined
  readonly #options: SeriesOptions
  readonly #clusters: BarClusters
  /** Times of bars that the service did not store. */
  readonly #refused: UnstoredSpans
  readonly #inFlight: Promise<void>[] = []
  #last: Promise<void> = Promise.resolve()
  #buffer = allocateBars(batchBarsMax)
  #filled = 0
  #repeats = false
  /** Whether the result of the last batch's last bar was final, so that its repetition is not counted. */
  #isCounted = false

  constructor(options: SeriesOptions) {
    this.#options = options
    this.#clusters = new BarClusters(options.resolution, options.maxGapSeconds)
    this.#refused = new UnstoredSpans(options.resolution)
  }

  get holes(): UnstoredSpans {
    return this.#options.holes
  }

  /** Windows for all stored bars; read it after `end`. */
  get spans(): readonly Span[] {
    return this.#refused.outside(this.holes.outside(this.#clusters.spans()))
  }

  async add(bars: LineBars): Promise<void> {
    for (let at = 0; at < barCount(bars); ) {
      if (this.#filled === batchBarsMax) await this.#next()
      const taken = Math.min(batchBarsMax - this.#filled, barCount(bars) - at)
      copyBars(sliceBars(bars, at, at + taken), this.#buffer, this.#filled)
      this.#filled += taken
      at += taken
    }
  }

  /** Resolves once everything is stored. */
  async end(): Promise<void> {
    if (this.#newestIsForming()) {
      this.#filled--
      this.counts.forming++
      this.#options.onDone(1)
    }
    if (this.#filled > 0) await this.#send(false)
    await this.#last
  }

  /** Resolves once every sent batch is answered, or none can be any more; never rejects. */
  settled(): Promise<void> {
    return this.#last.catch(() => undefined)
  }

  /** A forming bar is not sent, unless only it can show that the bar before it has closed. */
  #newestIsForming(): boolean {
    const newest = this.#filled - 1
    const isKnown = this.#options.readAt !== undefined && !(newest === 0 && this.#repeats)
    if (newest < 0 || !isKnown || this.#isWhole(newest)) return false
    return newest === 0 || this.#hasEnded(newest - 1)
  }

  /** Whether ingest accepts the bar without a later one. */
  #hasEnded(index: number): boolean {
    const { resolution, delaySeconds, readAt } = this.#options
    return hasEnded(timeAt(this.#buffer, index), resolution, { now: readAt, delaySeconds })
  }

  #isWhole(index: number): boolean {
    return isWhole(timeAt(this.#buffer, index), this.#options.resolution, this.#options)
  }

  async #next(): Promise<void> {
    const continues = !this.#isWhole(this.#filled - 1)
    const full = this.#buffer
    await this.#send(continues)
    this.#repeats = continues
    if (!continues) return
    copyBars(sliceBars(full, batchBarsMax - 1, batchBarsMax), this.#buffer, 0)
    this.#filled = 1
  }

  async #send(continues: boolean): Promise<void> {
    if (this.#inFlight.length >= inFlightMax) await this.#inFlight.shift()
    const bars = sliceBars(this.#buffer, 0, this.#filled)
    const batch: Batch = { bars, continues, repeats: this.#repeats }
    const sent = this.#options.send(bars)
    this.#last = Promise.all([sent, this.#last]).then(([outcome]) => this.#take(batch, outcome))
    // Later callers get the failure; until then it must not count as unhandled.
    this.#last.catch(() => undefined)
    this.#inFlight.push(this.#last)
    this.#buffer = allocateBars(batchBarsMax)
    this.#filled = 0
  }

  #take({ bars, continues, repeats }: Batch, outcome: ImportOutcome): void {
    const { counts } = this
    const newest = barCount(bars) - 1
    const wasCounted = repeats && this.#isCounted
    const refused = new Set<number>()
    let openEnd = false
    for (const { index, count, reason, message } of outcome.refused) {
      for (let i = index; i < index + count; i++) {
        refused.add(i)
        if (i === 0 && wasCounted) continue
        if (reason === 'NOT_CLOSED' && i === newest && continues) openEnd = true
        else if (reason === 'NOT_CLOSED') counts.forming++
        else {
          counts.refused++
          this.firstRefusal ??= message
          this.#options.onRefused(bars.revision[i] as number, message)
        }
      }
    }
    counts.accepted += outcome.accepted
    counts.revised += outcome.revised
    counts.unchanged += outcome.unchanged - (wasCounted && !refused.has(0) ? 1 : 0)
    this.#isCounted = continues && !openEnd
    const stored = refused.size === 0 ? bars : pickBars(bars, (i) => !refused.has(i))
    this.holes.fill(stored)
    this.#refused.fill(stored)
    if (refused.size > 0) this.#refused.add(pickBars(bars, (i) => refused.has(i)))
    this.#clusters.add(stored)
    this.#options.onDone(barCount(bars) - (wasCounted ? 1 : 0) - (openEnd ? 1 : 0))
  }
}
