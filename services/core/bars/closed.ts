import type { FeedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../feeds/resolution.ts'

/** A bar counts as closed this many seconds before its end: the clocks of terminal and server may differ. */
export const closeToleranceSeconds = 5

export interface SeriesMoment {
  /** "Now" on the feed's clock; `undefined` while that is unknown. */
  readonly now: FeedSeconds | undefined
  /** The newest known bar time of the series, this bar included or not. */
  readonly newest: FeedSeconds | undefined
  readonly delaySeconds: number
}

/** Whether a bar may be stored: its time, with the delay of its quotes, is over, or a later bar exists. */
export function isClosed(open: FeedSeconds, r: Resolution, at: SeriesMoment): boolean {
  if (at.newest !== undefined && at.newest > open) return true
  return hasEnded(open, r, { now: at.now, delaySeconds: at.delaySeconds - closeToleranceSeconds })
}

/** Whether the time of a bar is over, without a tolerance. Until then a line of a file may still be rewritten. */
export function hasEnded(open: FeedSeconds, r: Resolution, at: Omit<SeriesMoment, 'newest'>): boolean {
  return at.now !== undefined && barEnd(open, r) + at.delaySeconds <= at.now
}
