import { dateOfSeconds, daySeconds, secondsOfDate } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'

/** The eleven values, in the order of the specification's table; finest first. */
export const resolutions = ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'] as const
export type Resolution = (typeof resolutions)[number]

/** `30` is folded from M1 when read and never stored. */
export const storedResolutions = resolutions.filter((r) => r !== '30')

const known = new Set<string>(resolutions)
export const isResolution = (text: string): text is Resolution => known.has(text)
export const isIntraday = (r: Resolution): boolean => r !== '1D' && r !== '1W' && r !== '1M'
export const finestFirst = (a: Resolution, b: Resolution): number =>
  resolutions.indexOf(a) - resolutions.indexOf(b)

export const terminalCodes: ReadonlyMap<string, Resolution> = new Map([
  ['M1', '1'],
  ['M5', '5'],
  ['M10', '10'],
  ['M15', '15'],
  ['M30', '30'],
  ['H1', '60'],
  ['H2', '120'],
  ['H4', '240'],
  ['D1', '1D'],
  ['W1', '1W'],
  ['MN1', '1M'],
])

const minute = 60

/** Nominal seconds of a bar. 1M has none: the calendar decides its end (see `barEnd`). */
export const durationSeconds: Readonly<Record<Exclude<Resolution, '1M'>, number>> = {
  '1': minute,
  '5': 5 * minute,
  '10': 10 * minute,
  '15': 15 * minute,
  '30': 30 * minute,
  '60': 60 * minute,
  '120': 120 * minute,
  '240': 240 * minute,
  '1D': daySeconds,
  '1W': 7 * daySeconds,
}

/** The first second after a bar. A month ends where the next calendar month begins, on the feed's clock. */
export function barEnd(open: FeedSeconds, r: Resolution): FeedSeconds {
  if (r !== '1M') return feedSeconds(open + durationSeconds[r])
  const { year, month } = dateOfSeconds(open)
  return feedSeconds(secondsOfDate({ year, month: month + 1, day: 1 }))
}
