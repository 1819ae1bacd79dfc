import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { AnswerLine } from '../../../core/terminal/lines.ts'
import { type RawSeriesId, rawSeriesId } from '../../series/series-id.ts'
import type { SourceListener, SourceSeries } from '../../source.ts'

/** From which time a series has to be swept; `undefined`: not at all, or not yet. */
export type SweptFrom = Pick<SourceListener, 'reportFrom'>

/** Lines of one answer. */
const linesMax = 1_000
/** Pause after all series were tried: the others wait for ingest to list their symbols. */
const retryMs = 1_000

/** From where a terminal has to sweep each series: it is told once in a session. */
export class ToldSeries {
  readonly #told = new Set<RawSeriesId>()
  /** The newest tick when a series of the resolution was told last. */
  readonly #tickAtTold = new Map<Resolution, FeedSeconds | undefined>()
  #left: readonly SourceSeries[] = []
  #next = 0
  #notBeforeMs = 0

  /** These are all series now. */
  list(all: readonly SourceSeries[]): void {
    this.#left = all.filter((series) => !this.#told.has(rawSeriesId(series)))
    this.#next = this.#notBeforeMs = 0
  }

  lines(listener: SweptFrom, nowMs: number, tick: FeedSeconds | undefined): AnswerLine[] {
    const lines: AnswerLine[] = []
    if (nowMs < this.#notBeforeMs) return lines
    while (this.#next < this.#left.length && lines.length < linesMax) {
      const series = this.#left[this.#next++] as SourceSeries
      const from = listener.reportFrom(series)
      if (from === undefined) continue
      this.#told.add(rawSeriesId(series))
      this.#tickAtTold.set(series.resolution, tick)
      lines.push({ line: 'newest', series, time: from === 0 ? undefined : from })
    }
    if (this.#next === this.#left.length) {
      this.list(this.#left)
      this.#notBeforeMs = nowMs + retryMs
    }
    return lines
  }

  /** Whether a sweep to this time covered all collected series. */
  isWhole(resolution: Resolution, to: FeedSeconds, listener: SweptFrom): boolean {
    if (!this.#tickAtTold.has(resolution) || to <= (this.#tickAtTold.get(resolution) ?? 0)) return false
    return !this.#left.some(
      (series) =>
        series.resolution === resolution &&
        !this.#told.has(rawSeriesId(series)) &&
        listener.reportFrom(series) !== undefined,
    )
  }
}
