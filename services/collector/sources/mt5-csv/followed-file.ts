import {
  type Bars,
  barAt,
  barCount,
  columns,
  pickBars,
  type RevisedBar,
  sliceBars,
  timeAt,
} from '../../../core/bars/bar.ts'
import { BarClusters, defaultMaxGapSeconds } from '../../../core/bars/clusters.ts'
import { sortBars } from '../../../core/bars/revision.ts'
import type { Span } from '../../../core/bars/window.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { SourceSeries } from '../../source.ts'
import { type FineLine, type GoodLines, goodLines, type LineRules } from './export/good-lines.ts'
import {
  type BadLine,
  type Chunk,
  fileStart,
  type OpenFile,
  type Position,
  readExport,
} from './export/read-export.ts'
import { RejectedTimes } from './export/rejected-times.ts'
import { SpacingSample } from './export/spacing.ts'
import { type Change, FileChange } from './file-change.ts'

export interface FollowedFileDeps {
  readonly path: string
  readonly openFile: OpenFile
  readonly series: SourceSeries
  /** Whether no line is added any more: then a last line without a line end is read too. */
  readonly finished: boolean
  /** Maximum decimals of a price of this symbol; another file of the symbol may raise it. */
  readonly decimalsMax: () => number
  readonly reportsTicks: boolean
  /** "Now" on the feed's clock; `undefined` when that clock is measured. */
  readonly now: () => FeedSeconds | undefined
  readonly hasEnded: (open: FeedSeconds) => boolean
  /** Whether the feed's clock, less the symbol's delay, has reached a bar's open. */
  readonly hasBegun: (open: FeedSeconds) => boolean
  /** Whether a bar with this open shows which minute the terminal writes; not for future bars or delayed quotes. */
  readonly showsTime: (open: FeedSeconds) => boolean
  readonly onBad: (bad: readonly BadLine[]) => void
  /** Called when the distances of its bars contradict the resolution of its name, with text that follows its path. */
  readonly onSpacing: (fault: string) => void
  /** Called with lines that have a price with more decimals than `decimalsMax`; a line may be read again. */
  readonly onTooFine: (lines: readonly FineLine[]) => void
}

interface Forming {
  readonly time: FeedSeconds
  readonly bars: Bars
  readonly position: Position
}

export class FollowedFile {
  readonly path: string
  readonly series: SourceSeries
  readonly reportsTicks: boolean
  readonly #deps: FollowedFileDeps
  #position: Position = fileStart
  readonly #change: FileChange
  #clusters: BarClusters
  #rejected: RejectedTimes
  /** Times by which its resolution is judged; only while the whole file is read. */
  #spacing: SpacingSample | undefined
  /** The newest bar while it is forming: its line is read again until it has closed. */
  #forming: FeedSeconds | undefined
  /** The bar of the file's last line, once it was returned: that line is read again until another one follows. */
  #returned: RevisedBar | undefined
  #newestMinute: FeedSeconds | undefined
  /** Number of the last bad line that was reported. */
  #reportedUntil = 0
  /** Whether a session reads or read it. Other files are of symbols that ingest rejects, or does not know yet. */
  wasAsked = false
  /** Whether all of it was read; only lines added after that are live. */
  wasRead = false
  /** Lines rejected so far, since the file was last read from its start. */
  rejectedLines = 0

  constructor(deps: FollowedFileDeps) {
    this.path = deps.path
    this.series = deps.series
    this.reportsTicks = deps.reportsTicks
    this.#deps = deps
    this.#change = new FileChange(deps)
    this.#clusters = this.#noClusters()
    this.#rejected = this.#noneRejected()
  }

  #noClusters(): BarClusters {
    return new BarClusters(this.series.resolution, defaultMaxGapSeconds(this.series.resolution))
  }

  #noneRejected(): RejectedTimes {
    return new RejectedTimes({ resolution: this.series.resolution, now: this.#deps.now })
  }

  /** Windows for the lines read so far. */
  get spans(): readonly Span[] {
    return this.#rejected.holes.outside(this.#clusters.spans())
  }

  /** Times of lines rejected so far. */
  get holes(): readonly Span[] {
    return this.#rejected.holes.spans
  }

  /** Open of the newest reported bar that shows which minute the terminal writes. */
  get newestMinute(): FeedSeconds | undefined {
    return this.#newestMinute
  }

  async check(): Promise<Change> {
    const change = await this.#change.check()
    const hasClosed = this.#forming !== undefined && this.#deps.hasEnded(this.#forming)
    if (change === 'missing') return 'none'
    return change === 'none' && hasClosed ? 'appended' : change
  }

  /** Yields the bars of all complete lines that fit the symbol, without moving the read position. */
  async *peek(): AsyncGenerator<Bars> {
    const { openFile, finished } = this.#deps
    const { resolution } = this.series
    for await (const chunk of readExport(this.path, { resolution, openFile, finished }))
      yield goodLines(chunk, this.#rules).bars
  }

  get #rules(): LineRules {
    return { resolution: this.series.resolution, decimalsMax: this.#deps.decimalsMax() }
  }

  /** Reads the whole file, in pieces that each ascend in time. */
  async *readAll(): AsyncGenerator<Bars> {
    this.#position = fileStart
    this.#change.restart()
    this.#forming = undefined
    this.#returned = undefined
    this.#reportedUntil = 0
    this.rejectedLines = 0
    this.#clusters = this.#noClusters()
    this.#rejected = this.#noneRejected()
    this.#spacing = new SpacingSample()
    yield* this.#read()
    const fault = this.#spacing.fault(this.series.resolution)
    this.#spacing = undefined
    if (fault !== undefined) this.#deps.onSpacing(fault)
  }

  /**
   * Reads the complete lines after the last one read. The newest bar is not returned while it is forming: its
   * line is read again later, with the lines after it. The last line of the file is read again too: the terminal
   * may write the last seconds of a minute after its end. Its bar is returned again when it differs.
   * A read that fails is retried as a whole.
   */
  async *readNew(): AsyncGenerator<Bars> {
    yield* this.#read()
    this.#rejected.endNow()
  }

  async *#read(): AsyncGenerator<Bars> {
    const { openFile, finished, hasBegun } = this.#deps
    const fingerprint = await this.#change.fingerprint()
    const { resolution } = this.series
    const chunks = readExport(this.path, { resolution, openFile, finished, from: this.#position })
    let forming: Forming | undefined
    let lastLine: Position | undefined
    let last = this.#returned
    let before = this.#returned
    let chunk = await chunks.next()
    try {
      for (; !chunk.done; chunk = await chunks.next()) {
        const { lastLine: lastNumber, positionOf } = chunk.value
        const { good, lines, newest } = this.#newestOf(chunk.value)
        let bars = good
        if (lastNumber !== undefined) {
          lastLine = positionOf(lastNumber)
          last = lines.at(-1) === lastNumber ? barAt(good, barCount(good) - 1) : undefined
        }
        if (barCount(good) > 0 && forming && !hasBegun(forming.time)) {
          yield forming.bars
          forming = undefined
        }
        if (newest && (!forming || newest.time >= forming.time)) {
          // A later bar closes it.
          if (forming && newest.time > forming.time) yield this.#closed(forming.bars)
          bars = pickBars(good, (i) => timeAt(good, i) !== newest.time)
          forming = newest
        }
        bars = without(before, this.#closed(bars))
        before = undefined
        if (barCount(bars) > 0) yield bars
      }
    } finally {
      await chunks.return(fileStart)
    }
    // A bar of the future is returned, because no other bar closes those before it.
    if (forming && !hasBegun(forming.time)) yield forming.bars
    const position = forming?.position ?? lastLine ?? chunk.value
    const returned = forming ? undefined : last
    const { offset } = position
    await this.#change.wasRead({ fingerprint, offset, sizeMin: offset + (returned ? 1 : 0) })
    this.#forming = forming?.time
    this.#returned = returned
    this.#position = position
  }

  #closed(bars: Bars): Bars {
    const sorted = sortBars(bars).bars
    this.#clusters.add(sorted)
    this.#noteNewest(sorted)
    return sorted
  }

  #noteNewest(sorted: Bars): void {
    for (let i = barCount(sorted) - 1; i >= 0; i--) {
      const open = timeAt(sorted, i)
      if (this.#newestMinute !== undefined && open <= this.#newestMinute) return
      if (!this.#deps.showsTime(open)) continue
      this.#newestMinute = open
      return
    }
  }

  /** Returns the good bars of a chunk, and the newest of them while it is forming. */
  #newestOf(chunk: Chunk): { good: Bars; lines: Uint32Array; newest: Forming | undefined } {
    const { bars: good, lines } = this.#good(chunk)
    // While the clock is unknown, it may have been set back: the last line is the one that forms, not the newest.
    let last = this.#deps.now() === undefined ? barCount(good) - 1 : newestIndex(good, () => true)
    // A line far ahead of the clock is itself kept back, and only while it is the last; it delays no other.
    if (last >= 0 && last < barCount(good) - 1 && !this.#deps.hasBegun(timeAt(good, last)))
      last = newestIndex(good, this.#deps.hasBegun)
    if (last < 0 || this.#deps.hasEnded(timeAt(good, last))) return { good, lines, newest: undefined }
    const position = chunk.positionOf(lines[last] as number)
    const bars = sliceBars(good, last, last + 1)
    return { good, lines, newest: { time: timeAt(good, last), bars, position } }
  }

  #good(chunk: Chunk): GoodLines {
    const found = goodLines(chunk, this.#rules)
    if (found.tooFine.length > 0) this.#deps.onTooFine(found.tooFine)
    this.#reportBad(found.rejected)
    this.#spacing?.add(found.bars.time)
    this.#rejected.holes.fill(found.bars)
    this.#rejected.add(found)
    return found
  }

  /** Reports each bad line once, however often it is read. */
  #reportBad(bad: readonly BadLine[]): void {
    const unreported = bad.filter(({ line }) => line > this.#reportedUntil)
    if (unreported.length === 0) return
    this.#reportedUntil = unreported.reduce((most, { line }) => Math.max(most, line), 0)
    this.rejectedLines += unreported.length
    this.#deps.onBad(unreported)
  }
}

/** Returns the bars without one that was returned before with the same values. */
const without = (returned: RevisedBar | undefined, bars: Bars): Bars =>
  returned ? pickBars(bars, (i) => columns.some((each) => bars[each][i] !== returned[each])) : bars

/** Returns the index of the newest bar; for equal times, of the last line. */
function newestIndex(bars: Bars, counts: (open: FeedSeconds) => boolean): number {
  let newest = -1
  for (let i = 0; i < barCount(bars); i++) {
    if ((newest < 0 || timeAt(bars, i) >= timeAt(bars, newest)) && counts(timeAt(bars, i))) newest = i
  }
  return newest
}
