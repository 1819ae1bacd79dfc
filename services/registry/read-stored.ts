import { seriesId } from '../core/bars/series.ts'
import { serviceReader } from '../core/fair-queue.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import { storedResolutions } from '../core/feeds/resolution.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import type { BarStore } from '../ports/bars.ts'

/** Reads which series of the feed have bars. The result returns the resolutions that the symbol has bars of. */
export async function readStored(feed: FeedKey, bars: Pick<BarStore, 'lastTimes'>) {
  const stored = await bars.lastTimes(feed, { reader: serviceReader('registry') })
  return ({ symbol }: Pick<SymbolRecord, 'symbol'>) =>
    storedResolutions.filter((resolution) => stored.has(seriesId({ symbol, resolution })))
}
