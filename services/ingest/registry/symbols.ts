import { compoundKey, type FeedKey } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { BarStore } from '../../ports/bars.ts'
import { readStored } from '../../registry/read-stored.ts'
import type { RegistryWriter } from '../../registry/writer.ts'
import { feedRecordOf } from './feeds.ts'
import { freedRow, readHiddenNames } from './hidden-names.ts'
import { failedPrecondition, invalid, notFound } from './refusal.ts'

interface SymbolStores {
  readonly bars: BarStore
  readonly writer: RegistryWriter
}

interface Removed {
  /** Number of series of the symbol that have bars. */
  readonly series: number
  readonly freed: number
}

/**
 * Hides a symbol that only an import added. Its bars and windows stay stored: they are served again once an import
 * or a collector lists the name. A hidden name without bars is freed; with `hidden` all of the feed are.
 */
export function removeSymbol(
  request: { readonly feed: string; readonly symbol: string; readonly hidden: boolean },
  view: RegistryView,
  stores: SymbolStores,
): Promise<Removed> {
  const { key } = feedRecordOf(request.feed, view).definition
  if (request.hidden && request.symbol !== '')
    throw invalid(`symbol: got ${show(request.symbol)}, wanted none together with hidden`)
  const had = view.allSymbolsOf(key).find(({ symbol }) => symbol === compoundKey(key, request.symbol))
  return request.hidden || had?.hidden
    ? freeNames(had, key, view, stores)
    : hideSymbol(key, request.symbol, stores)
}

async function freeNames(
  had: SymbolRecord | undefined,
  feed: FeedKey,
  view: RegistryView,
  { bars, writer }: SymbolStores,
): Promise<Removed> {
  const hiddenNames = await readHiddenNames(feed, view, bars)
  const freed = await writer.change((newest) => {
    const rows = hiddenNames(newest)
      .filter(({ symbol }) => had === undefined || symbol === had.symbol)
      .map(freedRow)
    return { rows, result: rows.length }
  })
  if (had !== undefined && freed === 0)
    throw failedPrecondition(
      `${had.symbol} is hidden already and has stored bars; only "fxd feeds purge" removes bars.`,
    )
  return { series: 0, freed }
}

async function hideSymbol(feed: FeedKey, name: string, { bars, writer }: SymbolStores): Promise<Removed> {
  // Read before the change: if this fails, nothing was removed and the call can be repeated.
  const storedOf = await readStored(feed, bars)
  const found = await writer.change((now) => {
    const body = { ...importedSymbol(feed, name, now), hidden: true }
    return { rows: [{ kind: 'symbol' as const, id: body.symbol, body }], result: body }
  })
  return { series: storedOf(found).length, freed: 0 }
}

function importedSymbol(feed: FeedKey, name: string, view: RegistryView): SymbolRecord {
  const shown = view.allSymbolsOf(feed).filter(({ hidden }) => !hidden)
  const found = shown.find(({ symbol }) => symbol === compoundKey(feed, name))
  if (!found) {
    const names = shown.flatMap((each) => (each.origin === 'import' ? [each.name] : []))
    const near = didYouMean(name, names)
    throw notFound(`${feed} has no symbol ${show(name)}${near}.`)
  }
  if (found.origin === 'manifest') {
    throw failedPrecondition(
      `The Feed manifest of ${feed} lists ${show(found.raw)}; remove it from its spec.symbols.list first.`,
    )
  }
  if (found.origin === 'collector') {
    throw failedPrecondition(
      `The collector of ${feed} lists ${show(found.raw)}; ingest hides it once its source does not list it.`,
    )
  }
  return found
}
