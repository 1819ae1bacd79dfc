import { type Bars, noBars } from '../../../core/bars/bar.ts'
import type { Span } from '../../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { AnswerLine, TerminalBar, TerminalSeries } from '../../../core/terminal/lines.ts'
import { type RawSeriesId, rawSeriesId } from '../../series/series-id.ts'
import { NotLoadedYet, sourceReadsMax } from '../../source.ts'
import { toBars } from './terminal-bars.ts'

export interface WantAnswer {
  readonly bars: Bars
  /** Absent: the terminal cannot say that these are all. */
  readonly complete?: Span
}

interface Want {
  readonly series: TerminalSeries
  readonly bars: Map<FeedSeconds, TerminalBar>
  readonly resolve: (answer: WantAnswer) => void
  readonly reject: (cause: Error) => void
  span: Span
  /** Whether the present session of the terminal was asked: only then its bars in the span are the answer. */
  isAsked: boolean
  /** Open time of the bar that may still be forming; it is no part of the answer. */
  formingAt: FeedSeconds | undefined
  /** How often the terminal said `beyond` without changing this range. */
  repeated: number
}

/** The ranges of history that the terminal is asked for, until it has answered. */
export class Wants {
  #open: Want[] = []
  #opened = (): void => undefined
  /** The terminal cannot give earlier bars of these series. */
  readonly #oldest = new Map<RawSeriesId, FeedSeconds>()

  /** Resolves once the terminal has answered. Rejects with `NotLoadedYet` while it loads, or with the signal's reason. */
  async read(series: TerminalSeries, wanted: Span, signal: AbortSignal): Promise<WantAnswer> {
    const oldest = this.#oldest.get(rawSeriesId(series)) ?? wanted.from
    if (oldest >= wanted.to) return { bars: noBars }
    const span = { from: feedSeconds(Math.max(wanted.from, oldest)), to: wanted.to }
    const { promise, resolve, reject } = Promise.withResolvers<WantAnswer>()
    const { raw, resolution } = series
    const want: Want = {
      series: { raw, resolution },
      span,
      bars: new Map(),
      isAsked: false,
      formingAt: undefined,
      repeated: 0,
      resolve,
      reject,
    }
    const abort = (): void => reject(signal.reason as Error)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    else {
      this.#open.push(want)
      this.#opened()
    }
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', abort)
      this.#remove(want)
    }
  }

  /** Calls `run` once a range is wanted, at once if one is. Only the last call counts. */
  whenOpen(run: () => void): void {
    this.#opened = run
    if (this.#open.length > 0) run()
  }

  /** All open ranges, at most `sourceReadsMax`: the terminal takes a repeated one as the same. */
  get lines(): AnswerLine[] {
    return this.#open.map((want) => {
      want.isAsked = true
      return { line: 'want', series: want.series, span: want.span }
    })
  }

  /** Forgets the answers so far: another session of the terminal is asked again. */
  restart(): void {
    this.#oldest.clear()
    for (const want of this.#open) {
      want.isAsked = false
      want.bars.clear()
    }
  }

  /**
   * Takes the bars that answer a range, and returns the others. It also returns a bar that may still form, and all bars
   * from `formingAt` on.
   */
  take(
    series: TerminalSeries,
    bars: readonly TerminalBar[],
    lastIsOpen: boolean,
    formingAt = Number.POSITIVE_INFINITY,
  ): readonly TerminalBar[] {
    const asked = this.#asked(series)
    if (asked.length === 0) return bars
    const last = lastIsOpen ? bars.at(-1) : undefined
    return bars.filter((bar) => {
      const wants = asked.filter(({ span }) => bar.time >= span.from && bar.time < span.to)
      for (const want of wants) {
        if (bar === last) want.formingAt = bar.time
        else {
          want.bars.set(bar.time, bar)
          if (bar.time === want.formingAt) want.formingAt = undefined
        }
      }
      return bar === last || wants.length === 0 || bar.time >= formingAt
    })
  }

  complete(series: TerminalSeries, { from, to }: Span): void {
    const overlapping = this.#asked(series).filter(({ span }) => from < span.to && to > span.from)
    const whole = overlapping.filter(({ span }) => from <= span.from && to >= span.to)
    for (const want of whole.length > 0 ? whole : overlapping.slice(0, 1)) {
      const { span, formingAt } = want
      const end = Math.min(to, span.to, formingAt ?? span.to)
      this.#answer(want, { from: feedSeconds(Math.max(from, span.from)), to: feedSeconds(end) })
    }
  }

  /** Returns whether the terminal was asked for it. */
  loading(series: TerminalSeries): boolean {
    const asked = this.#asked(series)
    for (const want of asked) {
      this.#remove(want)
      want.reject(new NotLoadedYet())
    }
    return asked.length > 0
  }

  /** What lies before `oldest` is not asked for again in this session; the rest of a range is. */
  beyond(series: TerminalSeries, oldest: FeedSeconds): void {
    this.#oldest.set(rawSeriesId(series), oldest)
    for (const want of this.#asked(series)) {
      const { from, to } = want.span
      if (oldest > from && oldest < to) want.span = { from: oldest, to }
      // The line may answer another range of this series: at most so many are wanted.
      else if (oldest >= to || ++want.repeated > sourceReadsMax) this.#answer(want)
    }
  }

  #answer(want: Want, complete?: Span): void {
    const { bars, formingAt, resolve } = want
    this.#remove(want)
    const closed = [...bars.values()].filter(({ time }) => time !== formingAt)
    resolve({ bars: toBars(closed), ...(complete && complete.from < complete.to && { complete }) })
  }

  #remove(want: Want): void {
    this.#open = this.#open.filter((each) => each !== want)
  }

  #asked(series: TerminalSeries): Want[] {
    const id = rawSeriesId(series)
    return this.#open.filter((want) => want.isAsked && rawSeriesId(want.series) === id)
  }
}
