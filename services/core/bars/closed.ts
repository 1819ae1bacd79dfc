import { dateOfSeconds, secondsOfDate } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../feeds/resolution.ts'

/** Clocks of terminals and servers differ by a little; so much does not keep a bar back. */
export const closeToleranceSeconds = 5

/** The first moment after a bar. A month ends where the next calendar month begins, on the feed's clock. */
export function barEnd(open: FeedSeconds, r: Resolution): FeedSeconds {
  if (r !== '1M') return feedSeconds(open + durationSeconds[r])
  const { year, month } = dateOfSeconds(open)
  return feedSeconds(secondsOfDate({ year, month: month + 1, day: 1 }))
}

export interface SeriesMoment {
  /** "Now" on the feed's clock; `undefined` while that is unknown. */
  readonly now: FeedSeconds | undefined
  /** The newest bar time of the series that is known, this bar included or not. */
  readonly newest: FeedSeconds | undefined
  /** How far the symbol's quotes lag real time. */
  readonly delaySeconds: number
}

/** Only closed bars are stored: the time is over (a delayed quote's later), or a later bar exists. */
export function isClosed(open: FeedSeconds, r: Resolution, at: SeriesMoment): boolean {
  if (at.newest !== undefined && at.newest > open) return true
  return at.now !== undefined && barEnd(open, r) + at.delaySeconds <= at.now + closeToleranceSeconds
}
