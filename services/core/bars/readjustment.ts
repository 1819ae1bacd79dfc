import { daySeconds } from '../clocks/calendar.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../feeds/resolution.ts'
import { type Bars, barCount } from './bar.ts'
import type { Span } from './window.ts'

/** Closes of one old day that differ from the stored ones by one ratio: with so many the terminal has re-adjusted its history. */
export const readjustedClosesMin = 20
/** Differences of at most this many units of the last decimal are corrections: their ratios are alike by chance. */
const correctionUnitsMax = 10
/** Number of old days that are compared in rotation. */
const rotation = 5
/** Bars that a compared span may have. A share trades for a fifth of the time, so its span has at least 20. */
export const comparedBarsMax = 200

/** The most closes of a reading that differ from the stored ones by one ratio, as after a split. Both ascend in time. */
export function sameRatio(stored: Bars, incoming: Bars, scale: number): number {
  const unit = 10 ** -scale
  const ratios: number[] = []
  let low = Number.POSITIVE_INFINITY
  for (let i = 0, j = 0; i < barCount(incoming); i++) {
    while (j < barCount(stored) && (stored.time[j] as number) < (incoming.time[i] as number)) j++
    if (stored.time[j] !== incoming.time[i]) continue
    const [before, after] = [stored.close[j] as number, incoming.close[i] as number]
    if (Math.min(before, after) <= 0 || Math.abs(after - before) <= (correctionUnitsMax + 0.5) * unit)
      continue
    ratios.push(after / before)
    low = Math.min(low, before, after)
  }
  // Each of the two prices was rounded by half a unit.
  return mostWithin(ratios, 1 + (2 * unit) / low)
}

/** The size of the largest group of values of which the greatest is at most `factor` times the least. */
function mostWithin(values: readonly number[], factor: number): number {
  const ascending = Float64Array.from(values).sort()
  let most = 0
  for (let from = 0, to = 0; to < ascending.length; to++) {
    while ((ascending[to] as number) > (ascending[from] as number) * factor) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/**
 * The old day of a series that is compared with the stored bars on `today`, one of five in rotation. Days are counted since 1970.
 * Of a longer resolution it is as many days as have enough bars; `undefined` if the range has no whole day.
 */
export function comparedSpan({ from, to }: Span, r: Resolution, today: number): Span | undefined {
  const [first, end] = [Math.ceil(from / daySeconds), Math.floor(to / daySeconds)]
  if (end <= first) return undefined
  const barDays = (r === '1M' ? 31 * daySeconds : durationSeconds[r]) / daySeconds
  const days = Math.min(end - first, Math.max(1, Math.ceil(comparedBarsMax * barDays)))
  const part = ((today % rotation) + 0.5) / rotation
  const chosen = first + Math.floor(part * (end - first - days + 1))
  const start = days === 1 ? Math.max(first, chosen - weekendDays(chosen)) : chosen
  return { from: feedSeconds(start * daySeconds), to: feedSeconds((start + days) * daySeconds) }
}

/** Days since Friday on a weekend, else 0. Day 0 was a Thursday. */
const weekendDays = (day: number): number => Math.max(0, ((day + 3) % 7) - 4)
