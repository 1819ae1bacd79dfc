import { barEnd } from './closed.ts'
import type { FeedSeconds } from './feed-clock.ts'
import { isResolution, type Resolution } from './resolution.ts'

export interface NewestBar {
  readonly time: FeedSeconds
  readonly resolution: Resolution
}

/**
 * Of each series' last bar (by `seriesId`, whose first word is the resolution) the one that ends last; of
 * several that end together the one that opened last, so that the order of the series does not matter.
 */
export function newestByEnd(lastTimes: ReadonlyMap<string, FeedSeconds>): NewestBar | undefined {
  let newest: (NewestBar & { readonly end: FeedSeconds }) | undefined
  for (const [id, time] of lastTimes) {
    const resolution = id.slice(0, id.indexOf(' '))
    if (!isResolution(resolution)) continue
    const end = barEnd(time, resolution)
    if (newest && (end < newest.end || (end === newest.end && time <= newest.time))) continue
    newest = { time, resolution, end }
  }
  return newest && { time: newest.time, resolution: newest.resolution }
}
