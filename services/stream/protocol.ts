import { type CompoundKey, type FeedKey, parseCompoundKey } from '../core/compound-key.ts'
import type { FeedSeconds, UtcSeconds } from '../core/feed-clock.ts'
import { maskKeys } from '../core/show.ts'

/** What a client may say, validated. `symbols` are its own words: any strings, as it sent them. */
export type ClientMessage =
  | {
      readonly action: 'subscribe'
      readonly symbols: readonly string[]
      /** By symbol: bars with a greater time come first. */
      readonly since?: ReadonlyMap<string, FeedSeconds>
      /** Tell when a minute is complete. */
      readonly markers?: true
    }
  | { readonly action: 'unsubscribe'; readonly symbols: readonly string[] }
  | { readonly action: 'ping' }

export interface Misunderstood {
  readonly code: 'BAD_MESSAGE' | 'UNSUPPORTED_TYPE'
  readonly message: string
}

const shownMax = 20

/** Shortened, so that an answer is never larger than the question; a key sent by mistake is not repeated. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = maskKeys(JSON.stringify(value))
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}

const bad = (message: string): Misunderstood => ({ code: 'BAD_MESSAGE', message })

/** Reads one text message. Never throws. */
export function parseMessage(text: string): ClientMessage | Misunderstood {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return bad('The message is not JSON; it wants an object such as {"action":"ping"}.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad(`The message is ${shown(value)}; it wants an object such as {"action":"ping"}.`)
  }
  const { action, symbols, type, since, markers } = value as Record<string, unknown>
  if (action === 'ping') return { action }
  if (action !== 'subscribe' && action !== 'unsubscribe') {
    return bad(`action is ${shown(action)}; it wants subscribe, unsubscribe or ping.`)
  }
  if (type !== undefined && type !== 'bar') {
    return { code: 'UNSUPPORTED_TYPE', message: `type is ${shown(type)}; only bar is supported.` }
  }
  if (!Array.isArray(symbols)) {
    return bad(`symbols is ${shown(symbols)}; it wants an array of compound keys.`)
  }
  const list: readonly unknown[] = symbols
  const odd = list.findIndex((symbol) => typeof symbol !== 'string')
  if (odd >= 0) return bad(`symbols[${odd}] is ${shown(list[odd])}; it wants a compound key.`)
  const names = list as readonly string[]
  if (action === 'unsubscribe') return { action, symbols: names }
  if (markers !== undefined && typeof markers !== 'boolean')
    return bad(`markers is ${shown(markers)}; it wants true or false.`)
  const times = since === undefined ? undefined : parseSince(since, names)
  if (times && 'code' in times) return times
  return { action, symbols: names, ...(times && { since: times }), ...(markers && { markers }) }
}

const wantsSince = "it wants an object of symbol and time (epoch seconds on the feed's clock)"

function parseSince(
  since: unknown,
  symbols: readonly string[],
): ReadonlyMap<string, FeedSeconds> | Misunderstood {
  if (typeof since === 'number') {
    const feeds = new Set(symbols.flatMap((symbol) => parseCompoundKey(symbol)?.feed ?? []))
    if (feeds.size > 1) return bad(`since is one time for symbols of ${feeds.size} feeds; ${wantsSince}.`)
    if (!isTime(since)) return bad(`since is ${shown(since)}; ${wantsSince}.`)
    return new Map(symbols.map((symbol) => [symbol, since]))
  }
  if (typeof since !== 'object' || since === null || Array.isArray(since))
    return bad(`since is ${shown(since)}; ${wantsSince}, or one time for symbols of one feed.`)
  const asked = new Set(symbols)
  const times = new Map<string, FeedSeconds>()
  for (const [symbol, time] of Object.entries(since)) {
    if (!asked.has(symbol)) return bad(`since names ${shown(symbol)}, which is not in symbols.`)
    if (!isTime(time)) return bad(`since of ${shown(symbol)} is ${shown(time)}; ${wantsSince}.`)
    times.set(symbol, time)
  }
  return times
}

/** The year 9999: milliseconds sent by mistake lie beyond. */
const sinceMax = 253_402_300_799
const isTime = (value: unknown): value is FeedSeconds =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= sinceMax

export interface ConnectionLimits {
  readonly maxSymbols: number
  readonly idleTimeoutSeconds: number
  readonly maxMessageBytes: number
}

export interface SymbolGap {
  readonly symbol: CompoundKey
  /** Bars that open then or before are not missing on this socket; absent: no such time is known. */
  readonly after?: FeedSeconds | undefined
  /** What is later is delivered; absent: until now. */
  readonly until?: FeedSeconds | undefined
}

/** A grant was withdrawn, or the symbol (or its feed) left the registry. */
export type WithdrawalReason = 'SYMBOL_NOT_PERMITTED' | 'SYMBOL_NOT_FOUND'

/** Server messages as JSON text, fields in the specification's order. Bars have a way of their own: `barFrame`. */
export const messages = {
  connected: (sessionId: string, serverTime: UtcSeconds, limits: ConnectionLimits): string =>
    JSON.stringify({
      type: 'connected',
      session_id: sessionId,
      server_time: serverTime,
      limits: {
        max_symbols: limits.maxSymbols,
        idle_timeout_seconds: limits.idleTimeoutSeconds,
        max_message_bytes: limits.maxMessageBytes,
      },
    }),
  /** `since` answers a client that asked for it: by symbol, the time after which bars really follow. */
  subscribed: (
    symbols: readonly string[],
    rejected: readonly string[],
    since?: ReadonlyMap<string, FeedSeconds>,
  ): string =>
    JSON.stringify({ type: 'subscribed', symbols, rejected, since: since && Object.fromEntries(since) }),
  /** All bars of the minute that opened then were sent. Only for those who asked for markers. */
  minute: (feed: FeedKey, time: FeedSeconds): string => JSON.stringify({ type: 'minute', feed, time }),
  /** `reason` is set when it was not the client who asked. */
  unsubscribed: (symbols: readonly string[], reason?: WithdrawalReason): string =>
    JSON.stringify({ type: 'unsubscribed', symbols, reason }),
  pong: (serverTime: UtcSeconds): string => JSON.stringify({ type: 'pong', t: serverTime }),
  error: (code: string, message: string): string => JSON.stringify({ type: 'error', code, message }),
  /** Bars of these symbols that open later than `after`, to `until`, may be missing on this socket. */
  gap: (gaps: readonly SymbolGap[]): string =>
    JSON.stringify({
      type: 'error',
      code: 'GAP',
      message: 'Bars may be missing on this connection; read them from /v1/history.',
      gaps,
    }),
}
