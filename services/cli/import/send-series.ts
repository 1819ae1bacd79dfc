import { backfillMessagesMax } from '../../collector/connection/history-room.ts'
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
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import { type FileTimes, isWhole } from './file/file-times.ts'
import type { LineBars } from './file/read-lines.ts'

export interface SentCounts {
  accepted: number
  revised: number
  unchanged: number
  /** Bars that have not closed; a later import stores them. */
  forming: number
  refused: number
}

interface SeriesOptions extends FileTimes {
  readonly resolution: Resolution
  readonly maxGapSeconds: number
  readonly delaySeconds: number
  readonly send: (bars: Bars) => Promise<ImportOutcome>
  /** Times of bars that cannot be sent. */
  readonly holes: UnstoredSpans
  readonly onRefused: (line: number, reason: string) => void
  /** Called with the number of further bars that are done. */
  readonly onDone: (count: number) => void
}

/** Sends the bars of one series, ascending, in batches, and counts the results. */
export class SeriesSender {
  readonly counts: SentCounts = { accepted: 0, revised: 0, unchanged: 0, forming: 0, refused: 0 }
  firstRefusal: string | undefined
  readonly #options: SeriesOptions
  readonly #clusters: BarClusters
  readonly #refused: UnstoredSpans
  readonly #inFlight: Promise<void>[] = []
  #last: Promise<void> = Promise.resolve()
  #buffer = allocateBars(batchBarsMax)
  #filled = 0
  #newestSent: FeedSeconds | undefined
  /** Bars that ingest refused as not closed. They are sent once more after all others, which show that they closed. */
  #unclosed: LineBars[] | undefined = []

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
      if (this.#filled === batchBarsMax) await this.#send()
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
    await this.#finish()
    const again = this.#unclosed?.splice(0) ?? []
    this.#unclosed = undefined
    for (const bars of again) await this.add(bars)
    await this.#finish()
  }

  async #finish(): Promise<void> {
    if (this.#filled > 0) await this.#send()
    await this.#last
  }

  /** Resolves once every sent batch is answered, or none can be any more; never rejects. */
  settled(): Promise<void> {
    return this.#last.catch(() => undefined)
  }

  /** A forming bar is not sent, unless only it can show that the bar before it has closed. */
  #newestIsForming(): boolean {
    const { resolution, delaySeconds, readAt } = this.#options
    const newest = this.#filled - 1
    if (newest < 0 || readAt === undefined) return false
    if (isWhole(timeAt(this.#buffer, newest), resolution, this.#options)) return false
    const before = newest === 0 ? this.#newestSent : timeAt(this.#buffer, newest - 1)
    return before === undefined || hasEnded(before, resolution, { now: readAt, delaySeconds })
  }

  async #send(): Promise<void> {
    if (this.#inFlight.length >= backfillMessagesMax) await this.#inFlight.shift()
    const bars = sliceBars(this.#buffer, 0, this.#filled)
    this.#newestSent = timeAt(bars, this.#filled - 1)
    const sent = this.#options.send(bars)
    this.#last = Promise.all([sent, this.#last]).then(([outcome]) => this.#take(bars, outcome))
    // Later callers get the failure; until then it must not count as unhandled.
    this.#last.catch(() => undefined)
    this.#inFlight.push(this.#last)
    this.#buffer = allocateBars(batchBarsMax)
    this.#filled = 0
  }

  #take(bars: LineBars, { accepted, revised, unchanged, refused }: ImportOutcome): void {
    const { counts } = this
    const lost = new Set<number>()
    const unclosed = new Set<number>()
    for (const { index, count, reason, message } of refused) {
      const isUnclosed = reason === 'NOT_CLOSED'
      for (let i = index; i < index + count; i++) {
        ;(isUnclosed && this.#unclosed ? unclosed : lost).add(i)
        if (isUnclosed) continue
        this.firstRefusal ??= message
        this.#options.onRefused(bars.revision[i] as number, message)
      }
      if (!isUnclosed) counts.refused += count
      else if (!this.#unclosed) counts.forming += count
    }
    counts.accepted += accepted
    counts.revised += revised
    counts.unchanged += unchanged
    const stored = refused.length === 0 ? bars : pickBars(bars, (i) => !lost.has(i) && !unclosed.has(i))
    this.holes.fill(stored)
    this.#refused.fill(stored)
    if (lost.size > 0) this.#refused.add(pickBars(bars, (i) => lost.has(i)))
    if (unclosed.size > 0) this.#unclosed?.push(pickBars(bars, (i) => unclosed.has(i)))
    this.#clusters.add(stored)
    this.#options.onDone(barCount(bars) - unclosed.size)
  }
}
