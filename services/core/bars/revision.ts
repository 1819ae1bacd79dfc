import { allocateBars, type Bars, barCount, copyBar, noBars, pickBars, sliceBars } from './bar.ts'

/**
 * The union of two readings of a series, ascending, each time once. Of two bars with one time the greater
 * revision is kept; of equal revisions, the bar of `a`. Both inputs must ascend with each time once. The result
 * may be an input itself; neither is changed.
 */
export function mergeBars(a: Bars, b: Bars): Bars {
  const countA = barCount(a)
  const countB = barCount(b)
  if (countB === 0) return a
  if (countA === 0) return b
  const merged = allocateBars(countA + countB - countShared(a.time, b.time))
  let i = 0
  let j = 0
  for (let out = 0; out < barCount(merged); out++) {
    const timeA = i < countA ? (a.time[i] as number) : Number.POSITIVE_INFINITY
    const timeB = j < countB ? (b.time[j] as number) : Number.POSITIVE_INFINITY
    const takeB = timeA === timeB ? (b.revision[j] as number) > (a.revision[i] as number) : timeB < timeA
    if (takeB) copyBar(b, j, merged, out)
    else copyBar(a, i, merged, out)
    if (timeA <= timeB) i++
    if (timeB <= timeA) j++
  }
  return merged
}

function countShared(a: Float64Array, b: Float64Array): number {
  let shared = 0
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const difference = (a[i] as number) - (b[j] as number)
    if (difference === 0) shared++
    if (difference <= 0) i++
    if (difference >= 0) j++
  }
  return shared
}

/** Sorts bars by time. Of bars with one time the last one is kept; `duplicates` counts the others. */
export function sortBars(bars: Bars): { readonly bars: Bars; readonly duplicates: number } {
  if (ascends(bars.time)) return { bars, duplicates: 0 }
  const order = ascendingOrder(bars)
  return { bars: pickBars(bars, order), duplicates: barCount(bars) - order.length }
}

/** The indexes of bars by time. Of bars with one time the last one is kept. */
export function ascendingOrder({ time }: Bars): Uint32Array {
  const order = new Uint32Array(time.length)
  for (let i = 0; i < order.length; i++) order[i] = i
  order.sort((i, j) => (time[i] as number) - (time[j] as number) || i - j)
  let kept = 0
  for (let k = 0; k < order.length; k++) {
    const next = order[k + 1]
    if (next === undefined || time[next] !== time[order[k] as number]) order[kept++] = order[k] as number
  }
  return order.subarray(0, kept)
}

function ascends(time: Float64Array): boolean {
  for (let i = 1; i < time.length; i++) if (!((time[i - 1] as number) < (time[i] as number))) return false
  return true
}

export interface Compared {
  /** The bars to write, ascending; may be a view of the input. */
  readonly keep: Bars
  /** Number of bars with new times. */
  readonly accepted: number
  /** Number of bars whose values differ from the stored ones and whose revision is greater. */
  readonly revised: number
  /** Number of bars equal to the stored ones, or without a greater revision. */
  readonly unchanged: number
}

/** Which bars of a reading change the store. `stored` has every stored bar in the range of `incoming`; both ascend. */
export function compareWithStored(stored: Bars, incoming: Bars): Compared {
  const count = barCount(incoming)
  const kept = new Uint32Array(count)
  let keptCount = 0
  let revised = 0
  for (let i = 0, j = 0; i < count; i++) {
    const time = incoming.time[i] as number
    while (j < barCount(stored) && (stored.time[j] as number) < time) j++
    const isStored = stored.time[j] === time
    if (isStored && !wins(incoming, i, stored, j)) continue
    if (isStored) revised++
    kept[keptCount++] = i
  }
  return {
    keep: viewOrCopy(incoming, kept.subarray(0, keptCount)),
    accepted: keptCount - revised,
    revised,
    unchanged: count - keptCount,
  }
}

const wins = (incoming: Bars, i: number, stored: Bars, j: number): boolean =>
  (incoming.revision[i] as number) > (stored.revision[j] as number) &&
  (incoming.open[i] !== stored.open[j] ||
    incoming.high[i] !== stored.high[j] ||
    incoming.low[i] !== stored.low[j] ||
    incoming.close[i] !== stored.close[j] ||
    incoming.volume[i] !== stored.volume[j])

/** The bars at ascending indexes: a view where these are neighbours, otherwise a copy. */
function viewOrCopy(bars: Bars, indexes: Uint32Array): Bars {
  const first = indexes[0]
  if (first === undefined) return noBars
  const last = indexes[indexes.length - 1] as number
  return last - first + 1 === indexes.length ? sliceBars(bars, first, last + 1) : pickBars(bars, indexes)
}

/** The revision of a reading: its UTC milliseconds, but always more than the last revision of this series and time. */
export const nextRevision = (readingUtcMs: number, last: number | undefined): number =>
  last === undefined ? readingUtcMs : Math.max(readingUtcMs, last + 1)
