import { seriesId } from '../../core/bars/series.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import { storedResolutions } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import { feedRecordOf } from './feeds.ts'
import { failedPrecondition, notFound } from './refusal.ts'

interface SymbolStores {
  readonly bars: BarStore
  readonly writer: RegistryWriter
}

/**
 * Hides a symbol that only an import added. Its bars and windows stay stored: they are served again once an import
 * or a collector lists the name. Resolves with the number of its series that have bars.
 */
export async function removeSymbol(
  request: { readonly feed: string; readonly symbol: string },
  view: RegistryView,
  { bars, writer }: SymbolStores,
): Promise<number> {
  // Read before the change: if this fails, nothing was removed and the call can be repeated.
  const { key } = feedRecordOf(request.feed, view).definition
  const stored = await bars.lastTimes(key, { reader: serviceReader('registry') })
  const symbol = await writer.change((now) => {
    const found = importedSymbol(request.feed, request.symbol, now)
    const rows = [{ kind: 'symbol' as const, id: found.symbol, body: { ...found, hidden: true } }]
    return { rows, result: found.symbol }
  })
  return storedResolutions.filter((resolution) => stored.has(seriesId({ symbol, resolution }))).length
}

function importedSymbol(feed: string, name: string, view: RegistryView): SymbolRecord {
  const { key } = feedRecordOf(feed, view).definition
  const shown = view.allSymbolsOf(key).filter(({ hidden }) => !hidden)
  const found = shown.find(({ symbol }) => symbol === compoundKey(key, name))
  if (!found) {
    const imported = shown.filter(({ origin }) => origin === 'import')
    const near = didYouMean(
      name,
      imported.map((each) => each.name),
    )
    throw notFound(`${key} has no symbol ${show(name)}${near}.`)
  }
  if (found.origin === 'manifest') {
    throw failedPrecondition(
      `The Feed manifest of ${key} lists ${show(found.raw)}; remove it from its spec.symbols.list first.`,
    )
  }
  if (found.origin === 'collector') {
    throw failedPrecondition(
      `The collector of ${key} lists ${show(found.raw)}; ingest hides it once its source does not list it.`,
    )
  }
  return found
}
