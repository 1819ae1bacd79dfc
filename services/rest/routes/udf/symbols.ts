import { grant, grantedFeeds } from '../../../access/grant.ts'
import { feedOfTicker, tickerId, tickerOf } from '../../../core/charts/ticker.ts'
import { Failure } from '../../../core/failure.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import { isIntraday } from '../../../core/feeds/resolution.ts'
import { type Session, type SymbolRecord, symbolTypes } from '../../../core/feeds/symbol.ts'
import type { KeyRecord } from '../../../core/keys/api-key.ts'
import type { RegistryView } from '../../../core/registry/registry.ts'
import { type FoundSymbol, mustFindSymbol } from '../../found.ts'
import { configView, symbolDetail, symbolEntry } from '../../symbol-view.ts'

/** Symbols by ticker. The list of a feed is the same object until the feed has other symbols. */
const indexes = new WeakMap<readonly SymbolRecord[], ReadonlyMap<string, SymbolRecord>>()

function byTicker(symbols: readonly SymbolRecord[]): ReadonlyMap<string, SymbolRecord> {
  const known = indexes.get(symbols)
  if (known) return known
  const index = new Map(symbols.map((record) => [tickerId(tickerOf(record.symbol)), record]))
  indexes.set(symbols, index)
  return index
}

/** Finds the symbol of a ticker in any case, or of a compound key. Throws a `Failure` if there is none or it is not granted. */
export function chartSymbol(text: string, key: KeyRecord, view: RegistryView): FoundSymbol {
  const feedKey = feedOfTicker(text)
  if (feedKey === undefined) return mustFindSymbol(text, key, view)
  const feed = view.feed(feedKey)
  if (feed) grant(key, feedKey)
  const symbol = byTicker(view.symbolsOf(feedKey)).get(tickerId(text))
  if (!feed || !symbol) throw new Failure('SYMBOL_NOT_FOUND')
  return { feed, symbol }
}

/**
 * Trading hours in UTC. A symbol of weekdays may trade from Sunday on, and its days and weeks may be stamped on a Sunday:
 * a client hides bars outside of the hours. So only Friday 22:00 to Saturday 22:00 is closed.
 */
const hours: Readonly<Record<Session, string>> = { '24x7': '24x7', '24x5': '2200-2200:123456' }

/** Fields of the charting library. */
export function chartSymbolView({ symbol: record, feed }: FoundSymbol) {
  const detail = symbolDetail(record, feed)
  const { exchange, data_status: status, delay_seconds: delay } = detail
  const ticker = tickerOf(record.symbol)
  return {
    name: record.name,
    // By default a client makes it of exchange and name, which two accounts of a broker share.
    full_name: ticker,
    ticker,
    description: detail.description,
    type: detail.type,
    exchange,
    listed_exchange: exchange,
    session: hours[record.session],
    timezone: detail.timezone,
    minmov: 1,
    pricescale: detail.price_scale,
    format: 'price',
    volume_precision: 0,
    supported_resolutions: detail.supported_resolutions,
    has_intraday: detail.has_intraday,
    intraday_multipliers: feed.resolutions.filter(isIntraday),
    has_daily: detail.has_daily,
    has_weekly_and_monthly: detail.has_weekly_and_monthly,
    data_status: status === 'streaming' && delay > 0 ? 'delayed_streaming' : status,
    delay: status === 'streaming' ? delay : -1,
  }
}

interface Search {
  readonly query?: string | undefined
  readonly type?: string | undefined
  readonly exchange?: string | undefined
  readonly limit: number
}

/** Symbols that have the text in their name, ticker or description. The earlier a name has it, the earlier the symbol comes. */
export function searchSymbols(
  { query = '', type, exchange, limit }: Search,
  key: KeyRecord,
  view: RegistryView,
) {
  const fragment = new RegExp(RegExp.escape(query), 'iu')
  const found: { readonly at: number; readonly record: SymbolRecord; readonly feed: FeedDefinition }[] = []
  for (const feed of grantedFeeds(key, view)) {
    if (exchange !== undefined && feed.broker !== exchange) continue
    for (const record of view.symbolsOf(feed.key)) {
      if (type !== undefined && record.type !== type) continue
      const inName = record.name.search(fragment)
      const isFound =
        inName >= 0 || fragment.test(`${record.display} ${record.description} ${tickerOf(record.symbol)}`)
      if (isFound) found.push({ at: inName < 0 ? Infinity : inName, record, feed })
    }
  }
  return found
    .sort((a, b) => (a.at === b.at ? 0 : a.at - b.at))
    .slice(0, limit)
    .map(({ record, feed }) => {
      const { description, exchange: shown } = symbolEntry(record, feed)
      const ticker = tickerOf(record.symbol)
      return {
        symbol: record.name,
        full_name: ticker,
        ticker,
        description,
        exchange: shown,
        type: record.type,
      }
    })
}

/** An empty value is the filter for all. */
const all = { name: 'All', value: '' }

/** The config object with what the key may see. Shares are listed as `cfd`, so there is no filter for them. */
export function chartConfig(key: KeyRecord, view: RegistryView) {
  const { exchanges, symbols_types: types, ...config } = configView(grantedFeeds(key, view))
  const listed: readonly string[] = symbolTypes
  return {
    ...config,
    supports_time: true,
    exchanges: [{ ...all, desc: all.name }, ...exchanges],
    symbols_types: [all, ...types.filter(({ value }) => listed.includes(value))],
  }
}
