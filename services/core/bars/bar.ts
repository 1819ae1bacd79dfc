import type { FeedSeconds } from '../clocks/feed-clock.ts'

/** One OHLCV bar; `time` is its open on the feed's clock, `volume` counts ticks. */
export interface Bar {
  readonly time: FeedSeconds
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
}

/** A bar with its revision. Of two bars with the same time, the one with the greater revision is kept. */
export interface RevisedBar extends Bar {
  readonly revision: number
}

/**
 * Many bars of one series as columns of equal length, ascending in time unless said otherwise. Columns go to
 * other threads without a copy, and into an answer without an object per bar.
 */
export interface Bars {
  readonly time: Float64Array
  readonly open: Float64Array
  readonly high: Float64Array
  readonly low: Float64Array
  readonly close: Float64Array
  readonly volume: Float64Array
  readonly revision: Float64Array
}

export const columns = ['time', 'open', 'high', 'low', 'close', 'volume', 'revision'] as const

/** Allocates columns for `length` bars, to be filled by index. */
export const allocateBars = (length: number): Bars => ({
  time: new Float64Array(length),
  open: new Float64Array(length),
  high: new Float64Array(length),
  low: new Float64Array(length),
  close: new Float64Array(length),
  volume: new Float64Array(length),
  revision: new Float64Array(length),
})

export const noBars = allocateBars(0)
export const barCount = (bars: Bars): number => bars.time.length
export const timeAt = (bars: Bars, index: number): FeedSeconds => bars.time[index] as FeedSeconds

export function barAt(bars: Bars, index: number): RevisedBar {
  return {
    time: bars.time[index] as FeedSeconds,
    open: bars.open[index] as number,
    high: bars.high[index] as number,
    low: bars.low[index] as number,
    close: bars.close[index] as number,
    volume: bars.volume[index] as number,
    revision: bars.revision[index] as number,
  }
}

/** Copies one bar. Written out: a loop over column names costs five times as much on a hot path. */
export function copyBar(from: Bars, i: number, to: Bars, j: number): void {
  to.time[j] = from.time[i] as number
  to.open[j] = from.open[i] as number
  to.high[j] = from.high[i] as number
  to.low[j] = from.low[i] as number
  to.close[j] = from.close[i] as number
  to.volume[j] = from.volume[i] as number
  to.revision[j] = from.revision[i] as number
}

export function copyBars(from: Bars, to: Bars, at: number): void {
  for (const column of columns) to[column].set(from[column], at)
}

/** Copies one bar into an object that is used again for each bar. Written out as `copyBar` is. */
export function loadBar(bars: Bars, index: number, into: { -readonly [K in keyof Bar]: Bar[K] }): void {
  into.time = bars.time[index] as FeedSeconds
  into.open = bars.open[index] as number
  into.high = bars.high[index] as number
  into.low = bars.low[index] as number
  into.close = bars.close[index] as number
  into.volume = bars.volume[index] as number
}

/** All parts in their order; a single part itself, without a copy. */
export function concatBars(parts: readonly Bars[]): Bars {
  if (parts.length === 1) return parts[0] as Bars
  const all = allocateBars(parts.reduce((count, part) => count + barCount(part), 0))
  let at = 0
  for (const part of parts) {
    copyBars(part, all, at)
    at += barCount(part)
  }
  return all
}

export function barsOf(list: readonly (Bar & { readonly revision?: number })[]): Bars {
  const bars = allocateBars(list.length)
  list.forEach((bar, i) => {
    for (const column of columns) bars[column][i] = bar[column] ?? 0
  })
  return bars
}

/** The number of ascending bars that open at `time` or before. `start`: an index at or before the result. */
export function countUntil({ time: times }: Bars, time: number, start = 0): number {
  let low = start
  let high = times.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((times[middle] as number) > time) high = middle
    else low = middle + 1
  }
  return low
}

/** A view (no copy) of the bars in `[start, end)` by index; the same object for all bars, since views are slow to make. */
export const sliceBars = (bars: Bars, start: number, end: number): Bars =>
  start === 0 && end >= barCount(bars)
    ? bars
    : {
        time: bars.time.subarray(start, end),
        open: bars.open.subarray(start, end),
        high: bars.high.subarray(start, end),
        low: bars.low.subarray(start, end),
        close: bars.close.subarray(start, end),
        volume: bars.volume.subarray(start, end),
        revision: bars.revision.subarray(start, end),
      }

/** A copy of some bars: those at these indexes, in their order, or those whose index the rule keeps. */
export function pickBars(bars: Bars, which: Uint32Array | ((index: number) => boolean)): Bars {
  const indexes =
    typeof which === 'function' ? Uint32Array.from(bars.time.keys()).filter((index) => which(index)) : which
  const picked = allocateBars(indexes.length)
  for (const column of columns) {
    const from = bars[column]
    const to = picked[column]
    for (let i = 0; i < indexes.length; i++) to[i] = from[indexes[i] as number] as number
  }
  return picked
}

export const toList = (bars: Bars): RevisedBar[] =>
  Array.from({ length: barCount(bars) }, (_, i) => barAt(bars, i))
