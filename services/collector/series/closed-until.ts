import { bucketOpen } from '../../core/bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../../core/feeds/resolution.ts'

/** Bars of up to 30 minutes begin on their own grid, longer ones on any minute: the broker's sessions decide. */
const gridSeconds = (duration: number): number => (duration <= 1_800 ? duration : 60)

/**
 * The time before which no bar can still be forming, nor begin to: what a terminal said of later
 * times may yet change.
 */
export function closedUntil(r: Resolution, now: FeedSeconds, delaySeconds: number): FeedSeconds {
  if (r === '1M') return bucketOpen(feedSeconds(now - delaySeconds), r)
  const duration = durationSeconds[r]
  const latestOpen = now - delaySeconds - duration
  const grid = gridSeconds(duration)
  return feedSeconds((Math.floor(latestOpen / grid) + 1) * grid)
}
