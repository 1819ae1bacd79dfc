import { dateOfSeconds, secondsOfDate } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../feeds/resolution.ts'

/** A bar counts as closed this many seconds before its end: the clocks of terminal and server may differ. */
export const closeToleranceSeconds = 5

/** The first second after a bar. A month ends where the next calendar month begins, on the feed's clock. */
export function barEnd(open: FeedSeconds, r: Resolution): FeedSeconds {
  if (r !== '1M') return feedSeconds(open + durationSeconds[r])
  const { year, month } = dateOfSeconds(open)
  return feedSeconds(secondsOfDate({ year, month: month + 1, day: 1 }))
}

export interface SeriesMoment {
  /** "Now" on the feed's clock; `undefined` while that is unknown. */
  readonly now: FeedSeconds | undefined
  /** The newest known bar time of the series, this bar included or not. */
  readonly newest: FeedSeconds | undefined
  /** The delay of the symbol's quotes. */
  readonly delaySeconds: number
}

/**
 * Whether a bar is closed; only closed bars are stored. Its time (for a delayed quote plus the delay) is over,
 * or a later bar exists.
 */
export function isClosed(open: FeedSeconds, r: Resolution, at: SeriesMoment): boolean {
  if (at.newest !== undefined && at.newest > open) return true
  return hasEnded(open, r, { ...at, now: later(at.now) })
}

const later = (now: FeedSeconds | undefined): FeedSeconds | undefined =>
  now === undefined ? undefined : feedSeconds(now + closeToleranceSeconds)

/** Whether the time of a bar is over, without a tolerance. Until then a line of a file may still be rewritten. */
export function hasEnded(open: FeedSeconds, r: Resolution, at: Omit<SeriesMoment, 'newest'>): boolean {
  return at.now !== undefined && barEnd(open, r) + at.delaySeconds <= at.now
}
