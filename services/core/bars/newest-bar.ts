import type { FeedSeconds } from '../clocks/feed-clock.ts'
import { isResolution, type Resolution } from '../feeds/resolution.ts'
import { barEnd } from './closed.ts'

export interface NewestBar {
  readonly time: FeedSeconds
  readonly resolution: Resolution
}

/**
 * Of each series' last bar (by `seriesId`, whose first word is the resolution) the one with the greatest open
 * time. Of several with one open time it is the one that ends last, so the order of the series does not matter.
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
