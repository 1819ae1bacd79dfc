import { barEnd } from '../../../core/closed.ts'
import type { FeedKey } from '../../../core/compound-key.ts'
import type { FeedSeconds } from '../../../core/feed-clock.ts'
import { isResolution, type Resolution } from '../../../core/resolution.ts'
import type { BarStore } from '../../../ports/bars.ts'

export interface NewestStored {
  readonly time: FeedSeconds
  readonly resolution: Resolution
}

/** Of each series' last bar (by `seriesId`, whose first word is the resolution) the one that ends last; of two the shorter. */
function newestByEnd(lastTimes: ReadonlyMap<string, FeedSeconds>): NewestStored | undefined {
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

/**
 * Asks the store for a feed's newest bar. It looks at every series, so requests that come while it does
 * share one look.
 */
export function createNewestStored(
  bars: Pick<BarStore, 'lastTimes'>,
): (feed: FeedKey) => Promise<NewestStored | undefined> {
  const looking = new Map<FeedKey, Promise<NewestStored | undefined>>()
  return (feed) => {
    const under = looking.get(feed)
    if (under) return under
    const look = bars
      .lastTimes(feed)
      .then(newestByEnd)
      .finally(() => looking.delete(feed))
    looking.set(feed, look)
    return look
  }
}
