import type { FeedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, isResolution, type Resolution } from '../feeds/resolution.ts'

export interface NewestBar {
  readonly time: FeedSeconds
  readonly resolution: Resolution
}

/**
 * Returns the bar with the greatest open time; of several with one open time the one that ends last.
 * `lastTimes` has the last open time of each series, by `seriesId`, whose first word is the resolution.
 */
export function newestByOpen(lastTimes: ReadonlyMap<string, FeedSeconds>): NewestBar | undefined {
  let newest: NewestBar | undefined
  for (const [id, time] of lastTimes) {
    const resolution = id.slice(0, id.indexOf(' '))
    if (!isResolution(resolution)) continue
    const bar = { time, resolution }
    if (newest === undefined || isNewer(bar, newest)) newest = bar
  }
  return newest
}

const isNewer = (bar: NewestBar, other: NewestBar): boolean =>
  bar.time > other.time ||
  (bar.time === other.time && barEnd(bar.time, bar.resolution) > barEnd(other.time, other.resolution))
