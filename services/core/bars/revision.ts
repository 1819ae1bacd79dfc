import { allocateBars, type Bars, barCount, copyBar, noBars, pickBars, sliceBars } from './bar.ts'

/**
 * The union of two readings of a series: ascending, each time once, of two bars with one time the
 * greater revision (of equal ones that of `a`). Both ascend with each time once. May give back an
 * input as it is; neither is changed.
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

/** Ascending by time; of bars with one time the last given wins, `duplicates` counts the others. */
export function sortBars(bars: Bars): { readonly bars: Bars; readonly duplicates: number } {
  const { time } = bars
  if (ascends(time)) return { bars, duplicates: 0 }
  const order = new Uint32Array(time.length)
  for (let i = 0; i < order.length; i++) order[i] = i
  order.sort((i, j) => (time[i] as number) - (time[j] as number) || i - j)
  let kept = 0
  for (let k = 0; k < order.length; k++) {
    const next = order[k + 1]
    if (next === undefined || time[next] !== time[order[k] as number]) order[kept++] = order[k] as number
  }
  return { bars: pickBars(bars, order.subarray(0, kept)), duplicates: time.length - kept }
}

function ascends(time: Float64Array): boolean {
  for (let i = 1; i < time.length; i++) if (!((time[i - 1] as number) < (time[i] as number))) return false
  return true
}

export interface Compared {
  /** What is worth writing, ascending; may be a view of what came in. */
  readonly keep: Bars
  /** Bars of new times. */
  readonly accepted: number
  /** Bars whose values differ from the stored ones and whose revision is greater. */
  readonly revised: number
  /** Bars equal to the stored ones, or with a revision that could not win. */
  readonly unchanged: number
}

/** What a reading changes in the store. `stored` holds every stored bar in the range of `incoming`; both ascend. */
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

/** UTC milliseconds of the reading, but always more than the last revision of this series and time. */
export const nextRevision = (readingUtcMs: number, last: number | undefined): number =>
  last === undefined ? readingUtcMs : Math.max(readingUtcMs, last + 1)
