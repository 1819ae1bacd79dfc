import { barEnd } from '../../../core/closed.ts'
import type { FeedSeconds } from '../../../core/feed-clock.ts'
import { isResolution, type Resolution } from '../../../core/resolution.ts'

export interface NewestStored {
  readonly time: FeedSeconds
  readonly resolution: Resolution
}

/** Of each series' last bar (by `seriesId`, whose first word is the resolution) the one that ends last; of two the shorter. */
export function newestByEnd(lastTimes: ReadonlyMap<string, FeedSeconds>): NewestStored | undefined {
  let newest: NewestStored | undefined
  let end = Number.NEGATIVE_INFINITY
  for (const [id, time] of lastTimes) {
    const resolution = id.slice(0, id.indexOf(' '))
    if (!isResolution(resolution)) continue
    const own = barEnd(time, resolution)
    if (own < end || (own === end && newest !== undefined && time <= newest.time)) continue
    newest = { time, resolution }
    end = own
  }
  return newest
}
