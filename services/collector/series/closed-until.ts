import { bucketOpen } from '../../core/bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../../core/feeds/resolution.ts'

/** Bars of up to 30 minutes open on their own grid. Longer ones may open on any minute, by the broker's sessions. */
const gridSeconds = (duration: number): number => (duration <= 1_800 ? duration : 60)

/**
 * Returns the time before which no bar is still forming or can begin to form. What a terminal reported about
 * later times may still change.
 */
export function closedUntil(r: Resolution, now: FeedSeconds, delaySeconds: number): FeedSeconds {
  if (r === '1M') return bucketOpen(feedSeconds(now - delaySeconds), r)
  const duration = durationSeconds[r]
  const latestOpen = now - delaySeconds - duration
  const grid = gridSeconds(duration)
  return feedSeconds((Math.floor(latestOpen / grid) + 1) * grid)
}
