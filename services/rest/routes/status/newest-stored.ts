import { type NewestBar, newestByOpen } from '../../../core/bars/newest-bar.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { readerNamed } from '../../../core/turns.ts'
import type { BarStore } from '../../../ports/bars.ts'

/**
 * Asks the store for a feed's newest bar. It looks at every series, so requests that come while it does
 * share one look.
 */
export function createNewestStored(
  bars: Pick<BarStore, 'lastTimes'>,
): (feed: FeedKey) => Promise<NewestBar | undefined> {
  const looking = new Map<FeedKey, Promise<NewestBar | undefined>>()
  return (feed) => {
    const under = looking.get(feed)
    if (under) return under
    const look = bars
      .lastTimes(feed, { reader: readerNamed('status') })
      .then(newestByOpen)
      .finally(() => looking.delete(feed))
    looking.set(feed, look)
    return look
  }
}
