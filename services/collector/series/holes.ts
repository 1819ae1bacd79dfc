import { type Bars, barCount, selectBars, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { barEnd } from '../../core/bars/closed.ts'
import { joinSpans, subtractSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'

/** A series with more is damaged as a whole: then all between its first and its last hole counts as one. */
const holesMax = 256

/** Where a series has bars that were read and not stored: no window may claim these times. */
export class Holes {
  readonly #resolution: Resolution
  #spans: Span[] = []

  constructor(resolution: Resolution) {
    this.#resolution = resolution
  }

  /** The times `[open, end)` of these bars were not stored. */
  add(bars: Bars): void {
    if (barCount(bars) === 0) return
    this.addSpans(this.#cells(bars))
  }

  /** Ascending and joined. */
  get spans(): readonly Span[] {
    return this.#spans
  }

  /** Nothing in these spans was stored. */
  addSpans(spans: readonly Span[]): void {
    this.#take(joinSpans([...this.#spans, ...spans]))
  }

  /** The times of these bars were stored. */
  fill(bars: Bars): void {
    if (this.#spans.length === 0 || barCount(bars) === 0) return
    this.#take(subtractSpans(this.#spans, this.#cells(bars)))
  }

  /** What is left of these spans. */
  outside(spans: readonly Span[]): Span[] {
    return subtractSpans(spans, this.#spans)
  }

  #take(spans: Span[]): void {
    const [first, last] = [spans[0], spans.at(-1)]
    this.#spans = first && last && spans.length > holesMax ? [{ from: first.from, to: last.to }] : spans
  }

  #cells(bars: Bars): Span[] {
    return Array.from({ length: barCount(bars) }, (_, i) => {
      const open = timeAt(bars, i)
      // A time off the grid still stands for the bar that it was meant to be.
      return { from: feedSeconds(open), to: barEnd(open, this.#resolution) }
    })
  }
}

interface Part {
  readonly item: { readonly series: { readonly holes: Holes } }
  readonly bars: Bars
}

/** Notes with each series of one message which of its bars the answer says are stored, and which are not. */
export function recordStored(parts: readonly Part[], refused: readonly RefusedBar__Output[]): void {
  // A refusal of no particular bars speaks for the whole message.
  const isWhole = refused.some(({ count }) => count === 0)
  parts.forEach(({ item: { series }, bars }, position) => {
    const own = refused.filter((each) => each.series === position && each.count > 0)
    if (isWhole) series.holes.add(bars)
    else if (own.length === 0) series.holes.fill(bars)
    else {
      const lost = new Uint8Array(barCount(bars))
      for (const { index, count } of own) lost.fill(1, index, index + count)
      series.holes.fill(selectBars(bars, (i) => lost[i] === 0))
      for (const { index, count } of own) series.holes.add(sliceBars(bars, index, index + count))
    }
  })
}
