import { durations } from '../../../clients/typescript/src/history.ts'
import type { Resolution } from '../../../clients/typescript/src/types.ts'

const day = 86_400

/** Names for people. */
const rows: readonly (readonly [Resolution, label: string, words: string])[] = [
  ['1', '1m', '1 minute'],
  ['5', '5m', '5 minutes'],
  ['10', '10m', '10 minutes'],
  ['15', '15m', '15 minutes'],
  ['30', '30m', '30 minutes'],
  ['60', '1h', '1 hour'],
  ['120', '2h', '2 hours'],
  ['240', '4h', '4 hours'],
  ['1D', '1D', '1 day'],
  ['1W', '1W', '1 week'],
  ['1M', '1M', '1 month'],
]

export const resolutions = rows.map(([value, label, words]) => ({ value, label, words }))

/** `5-minute bars` */
export const barsOf = (resolution: Resolution): string =>
  `${rows.find(([value]) => value === resolution)?.[2].replace(/ (.*?)s?$/, '-$1')} bars`

export const isOfDays = (resolution: Resolution): boolean => durations[resolution] >= day

/** Open time of the bar that contains `time`. Weeks begin on the weekday of `aBar`, a known bar. */
export function openOf(resolution: Resolution, time: number, aBar = 0): number {
  if (resolution === '1M') {
    const date = new Date(time * 1_000)
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000
  }
  const seconds = durations[resolution]
  const base = resolution === '1W' ? aBar : 0
  return base + Math.floor((time - base) / seconds) * seconds
}

/** Open time of the bar after the one that opens at `time`. */
export function nextOpen(resolution: Resolution, time: number): number {
  if (resolution !== '1M') return time + durations[resolution]
  const date = new Date(time * 1_000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1_000
}

/**
 * A time of the feed's clock on the axis of UTC. Bars of a day or longer keep their date, unless the clock is days away
 * from UTC. Then days and weeks move by whole days, and a month becomes the month of its middle.
 */
export function axisTime(resolution: Resolution, time: number, offset: number): number {
  if (!isOfDays(resolution)) return time + offset
  const days = Math.trunc(offset / day) * day
  if (resolution !== '1M' || days === 0) return time + days
  return openOf('1M', time + days + 15 * day)
}
