import { gridSeconds } from '../../core/bars/bar-rules.ts'
import { bucketOpen } from '../../core/bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../../core/feeds/resolution.ts'

/** The time before which no bar is still forming or can begin to form. Later times may still change. */
export function closedUntil(r: Resolution, now: FeedSeconds, delaySeconds: number): FeedSeconds {
  if (r === '1M') return bucketOpen(feedSeconds(now - delaySeconds), r)
  const latestOpen = now - delaySeconds - durationSeconds[r]
  const grid = gridSeconds(r)
  return feedSeconds((Math.floor(latestOpen / grid) + 1) * grid)
}
