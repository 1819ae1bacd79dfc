import type { FeedDefinition } from '../core/feeds/feed.ts'
import { isIntraday, resolutions } from '../core/feeds/resolution.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'

/** Bar times are drawn as they are stamped; the feed's clock is told by `/v1/status`. */
const shownTimezone = 'Etc/UTC'

/** A Symbol as lists show it, in the specification's order. */
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

/** The single-symbol response: all fields, in the specification's order. */
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

/** A file that nobody appends to brings no live bars; every other source does. */
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
 * The config object; one exchange per broker of the given (visible) feeds, whose accounts stay unnamed.
 * Of several names of one broker the first by account wins, and any over the default, the broker itself.
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
