import type { FeedDefinition } from '../core/feeds/feed.ts'
import { isIntraday, resolutions } from '../core/feeds/resolution.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'

/** Charts show bar times as the feed stamps them; `/v1/status` has the feed's clock. */
const shownTimezone = 'Etc/UTC'

/** A symbol in a list, fields in the specification's order. */
export const symbolEntry = (record: SymbolRecord, feed: FeedDefinition) => ({
  symbol: record.symbol,
  display_symbol: record.display,
  description: `${record.description || record.display} (${feed.description})`,
  exchange: feed.broker,
  type: record.type,
  digits: record.digits,
  price_scale: 10 ** record.digits,
  feed: record.feed,
})

/** The answer for one symbol: all fields, in the specification's order. */
export function symbolDetail(record: SymbolRecord, feed: FeedDefinition) {
  const { symbol, ...entry } = symbolEntry(record, feed)
  const serves = feed.resolutions
  return {
    symbol,
    full_name: symbol,
    ...entry,
    supported_resolutions: serves,
    has_intraday: serves.some(isIntraday),
    has_daily: serves.includes('1D'),
    has_weekly_and_monthly: serves.includes('1W') && serves.includes('1M'),
    session: record.session,
    timezone: shownTimezone,
    data_status: serves.includes('1') && isLive(feed) ? ('streaming' as const) : ('endofday' as const),
    delay_seconds: record.delaySeconds,
  }
}

/** A file that does not grow has no live bars; every other source has. */
const isLive = ({ source }: FeedDefinition): boolean => source.type !== 'Mt5Csv' || source.follow

/** `stock` exists only here: shares are listed as `cfd`. */
const symbolsTypes = [
  { name: 'Forex', value: 'forex' },
  { name: 'Stock', value: 'stock' },
  { name: 'Crypto', value: 'crypto' },
  { name: 'Index', value: 'index' },
  { name: 'CFD', value: 'cfd' },
] as const

/**
 * The config object, with one exchange per broker of the given (visible) feeds; it names no account. If a broker
 * has several names, the first by account is used. A name that was set replaces the default, the broker's code.
 */
export function configView(feeds: Iterable<FeedDefinition>) {
  const names = new Map<string, string>()
  for (const { broker, brokerName } of [...feeds].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const known = names.get(broker)
    if (known === undefined || known === broker) names.set(broker, brokerName)
  }
  const exchanges = [...names].sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    supported_resolutions: [...resolutions],
    supports_group_request: false,
    supports_marks: false,
    supports_search: true,
    supports_timescale_marks: false,
    exchanges: exchanges.map(([value, name]) => ({ value, name, desc: name })),
    symbols_types: symbolsTypes,
  }
}
