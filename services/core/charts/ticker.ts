import { type CompoundKey, type FeedKey, isFeedKey, parseCompoundKey } from '../feeds/compound-key.ts'

/**
 * The name of a symbol for charting clients: `BROKER_ACCOUNT:NAME` with one colon. Clients compare tickers in upper
 * case, so a name with lower case gets a mark that says which letters these are: a ticker depends on its own name only,
 * and never comes to mean another symbol.
 */
export function tickerOf(symbol: CompoundKey): string {
  const { broker, account, name } = parseCompoundKey(symbol) as NonNullable<
    ReturnType<typeof parseCompoundKey>
  >
  return `${broker}_${account}:${markedName(name)}`
}

/** In its name `~` begins a mark. */
const plain = /^[\x20-\x7d]+$/

function markedName(name: string): string {
  const upper = name.toUpperCase()
  if (!plain.test(name) || name.includes(':')) return `${upper.replaceAll(':', '_')}~X${hexOf(name)}`
  return upper === name ? name : `${upper}~${lowerCaseMask(name)}`
}

/** Code units as hexadecimal digits: upper case does not change them. */
const hexOf = (name: string): string =>
  Array.from({ length: name.length }, (_, i) => name.charCodeAt(i).toString(16).padStart(4, '0'))
    .join('')
    .toUpperCase()

/** One bit per character, the first is the lowest. */
function lowerCaseMask(name: string): string {
  const bits = Array.from(name, (each, i) => (each === each.toUpperCase() ? 0n : 1n << BigInt(i)))
  return bits
    .reduce((sum, bit) => sum | bit, 0n)
    .toString(16)
    .toUpperCase()
}

/** The feed that a ticker in any case names; `undefined` for a text that is no ticker. */
export function feedOfTicker(ticker: string): FeedKey | undefined {
  const colon = ticker.indexOf(':')
  const feed = ticker.slice(0, Math.max(0, colon)).toUpperCase().replace('_', ':')
  return isFeedKey(feed) ? feed : undefined
}

/** Tickers are compared in upper case. */
export const tickerId = (ticker: string): string => ticker.toUpperCase()
