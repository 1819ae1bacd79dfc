import { type Bars, barCount, pickBars, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { joinSpans, subtractSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../core/feeds/resolution.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import { refusedBySeries } from './refused-bars.ts'

/** Maximum spans of a series, unless said otherwise; above it all times from the first to the last become one span. */
const defaultSpansMax = 256

/** Times of a series whose bars were read and not stored: no window may claim them. */
export class UnstoredSpans {
  readonly #resolution: Resolution
  readonly #spansMax: number
  #spans: Span[] = []

  constructor(resolution: Resolution, spansMax = defaultSpansMax) {
    this.#resolution = resolution
    this.#spansMax = spansMax
  }

  /** Adds the times `[open, end)` of bars that were not stored. */
  add(bars: Bars): void {
    if (barCount(bars) === 0) return
    this.addSpans(cellsOf(bars, this.#resolution))
  }

  /** Ascending and joined. */
  get spans(): readonly Span[] {
    return this.#spans
  }

  addSpans(spans: readonly Span[]): void {
    this.#take(joinSpans([...this.#spans, ...spans]))
  }

  /** Removes the times of bars that were stored. */
  fill(bars: Bars): void {
    if (this.#spans.length === 0 || barCount(bars) === 0) return
    this.#take(subtractSpans(this.#spans, cellsOf(bars, this.#resolution)))
  }

  /** Returns the parts of these spans in which all bars were stored. */
  outside(spans: readonly Span[]): Span[] {
    return subtractSpans(spans, this.#spans)
  }

  #take(spans: Span[]): void {
    const [first, last] = [spans[0], spans.at(-1)]
    this.#spans = first && last && spans.length > this.#spansMax ? [{ from: first.from, to: last.to }] : spans
  }
}

/** The times `[open, end)` of bars. A time off the grid covers the bar that it was meant to be. */
export const cellsOf = (bars: Bars, resolution: Resolution): Span[] =>
  Array.from({ length: barCount(bars) }, (_, i) => {
    const open = timeAt(bars, i)
    return { from: feedSeconds(open), to: barEnd(open, resolution) }
  })

interface Part {
  readonly item: { readonly series: { readonly unstored: UnstoredSpans } }
  readonly bars: Bars
}

export function recordStored(parts: readonly Part[], refused: readonly RefusedBar__Output[]): void {
  const refusedOf = refusedBySeries(refused)
  parts.forEach(({ item: { series }, bars }, position) => {
    const own = refusedOf(position)
    if (own === 'whole') series.unstored.add(bars)
    else if (own.length === 0) series.unstored.fill(bars)
    else {
      const lost = new Uint8Array(barCount(bars))
      for (const { index, count } of own) lost.fill(1, index, index + count)
      series.unstored.fill(pickBars(bars, (i) => lost[i] === 0))
      for (const { index, count } of own) series.unstored.add(sliceBars(bars, index, index + count))
    }
  })
}
