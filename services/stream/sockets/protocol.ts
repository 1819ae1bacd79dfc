import type { FeedSeconds, UtcSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import { show } from '../../core/show.ts'
import { wantsSince } from '../../frames/client-messages.ts'
import { firstFault, isAction } from '../../frames/first-fault.ts'

/** What a client says, validated. `symbols` are its own words: any strings, each once, in its order. */
export type ClientMessage =
  | {
      readonly action: 'subscribe'
      /** The time after which bars are wanted, where the client says one. */
      readonly symbols: ReadonlyMap<string, FeedSeconds | undefined>
      /** The client sent `since`, perhaps without a time for any symbol. */
      readonly resumes: boolean
      /** Send a frame when a minute is complete. */
      readonly markers: boolean
      /** How many symbols and times the message lists. */
      readonly entries: number
    }
  | { readonly action: 'unsubscribe'; readonly symbols: ReadonlySet<string>; readonly entries: number }
  | { readonly action: 'ping'; readonly entries: 0 }

export interface Misunderstood {
  readonly code: 'BAD_MESSAGE' | 'UNSUPPORTED_TYPE'
  readonly message: string
}

const bad = (message: string): Misunderstood => ({ code: 'BAD_MESSAGE', message })
const wantsObject = 'it wants an object such as {"action":"ping"}.'

/** Reads one text message. Never throws, copies no list that is too long, and quotes short strings only. */
export function parseMessage(text: string): ClientMessage | Misunderstood {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return bad(`The message is not JSON; ${wantsObject}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad(`The message is ${show(value)}; ${wantsObject}`)
  }
  const message = value as Readonly<Record<string, unknown>>
  const { action } = message
  if (!isAction(action)) return bad(`action is ${show(action)}; it wants subscribe, unsubscribe or ping.`)
  const fault = firstFault(message, action)
  if (fault)
    return { code: fault.field === 'type' ? 'UNSUPPORTED_TYPE' : 'BAD_MESSAGE', message: fault.message }
  if (action === 'ping') return { action, entries: 0 }
  const symbols = message['symbols'] as readonly string[]
  if (action === 'subscribe') return subscription(message, symbols)
  return { action, symbols: new Set(symbols), entries: symbols.length }
}

function subscription(
  { since, markers }: Readonly<Record<string, unknown>>,
  list: readonly string[],
): ClientMessage | Misunderstood {
  const symbols = new Map<string, FeedSeconds | undefined>()
  for (const symbol of list) symbols.set(symbol, timeOf(symbol, since))
  const times = typeof since === 'object' ? Object.keys(since as object) : []
  for (const name of times) {
    if (!symbols.has(name)) return bad(`since names ${show(name)}, which is not in symbols.`)
  }
  if (typeof since === 'number') {
    const feeds = new Set(list.flatMap((symbol) => parseCompoundKey(symbol)?.feed ?? []))
    if (feeds.size > 1) return bad(`since is one time for symbols of ${feeds.size} feeds; ${wantsSince}`)
  }
  return {
    action: 'subscribe',
    symbols,
    resumes: since !== undefined,
    markers: markers === true,
    entries: list.length + (typeof since === 'number' ? list.length : times.length),
  }
}

/** By the name of what every object inherits there is something else than a number. */
function timeOf(symbol: string, since: unknown): FeedSeconds | undefined {
  const time = typeof since === 'object' ? (since as Readonly<Record<string, unknown>>)[symbol] : since
  return typeof time === 'number' ? (time as FeedSeconds) : undefined
}

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
  /**
   * `since` answers a client that asked for it: by symbol, the time after which bars really follow. `reason` is
   * set when it was not the client who asked: the symbols returned to the registry.
   */
  subscribed: (
    symbols: readonly string[],
    rejected: readonly string[],
    since?: ReadonlyMap<string, FeedSeconds>,
    reason?: 'returned',
  ): string =>
    JSON.stringify({
      type: 'subscribed',
      symbols,
      rejected,
      since: since && Object.fromEntries(since),
      reason,
    }),
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
