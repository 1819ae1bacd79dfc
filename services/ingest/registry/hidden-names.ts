import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { RegistryBody, RegistryView } from '../../core/registry/registry.ts'
import type { BarStore } from '../../ports/bars.ts'
import { readStored } from '../../registry/read-stored.ts'

/**
 * Reads which names of the feed are hidden and without bars. Rejects if the store is unavailable: then it is unknown.
 * The result is for the newest registry; it omits names that changed since the read began.
 */
export async function readHiddenNames(
  feed: FeedKey,
  view: RegistryView,
  bars: Pick<BarStore, 'lastTimes'>,
): Promise<(newest: RegistryView) => readonly SymbolRecord[]> {
  const { version } = view
  const storedOf = await readStored(feed, bars)
  return (newest) =>
    newest.allSymbolsOf(feed).filter((each) => {
      const isSame = newest.versionOf(each.symbol) <= version
      return each.hidden && isSame && storedOf(each).length === 0
    })
}

export const freedRow = (body: SymbolRecord): RegistryBody => ({
  kind: 'symbol',
  id: body.symbol,
  body: { ...body, freed: true },
})
