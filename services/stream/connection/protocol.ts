import type { FeedSeconds, UtcSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import { show } from '../../core/show.ts'
import { mustBeSince } from '../../frames/client-messages.ts'
import { firstFault, isAction } from '../../frames/first-fault.ts'
import type { Format } from '../fan-out/formats.ts'

/** A client message, validated. `symbols` are as the client sent them: any strings, each once, in its order. */
export type ClientMessage =
  | {
      readonly action: 'subscribe'
      /** The symbols, each with the time after which the client wants bars, if it sent one. */
      readonly symbols: ReadonlyMap<string, FeedSeconds | undefined>
      /** Whether the client sent `since`, perhaps without a time for any symbol. */
      readonly resumes: boolean
      /** Whether the client wants a frame for each complete minute; `undefined`: as before. */
      readonly markers: boolean | undefined
      /** Of the socket's bars. Only the first `subscribe` of a socket decides. */
      readonly format: Format
      /** Number of symbols and times in the message. */
      readonly entries: number
    }
  | { readonly action: 'unsubscribe'; readonly symbols: ReadonlySet<string>; readonly entries: number }
  | { readonly action: 'ping'; readonly entries: 0 }

export interface InvalidMessage {
  readonly code: 'BAD_MESSAGE' | 'UNSUPPORTED_TYPE'
  readonly message: string
}

const bad = (message: string): InvalidMessage => ({ code: 'BAD_MESSAGE', message })
const mustBeObject = 'it must be an object such as {"action":"ping"}.'

/** Reads one text message. Never throws, copies no list that is too long, and quotes short strings only. */
export function parseMessage(text: string): ClientMessage | InvalidMessage {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return bad(`The message is not JSON; ${mustBeObject}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return bad(`The message is ${show(value)}; ${mustBeObject}`)
  }
  const message = value as Readonly<Record<string, unknown>>
  const { action } = message
  if (!isAction(action)) return bad(`action is ${show(action)}; it must be subscribe, unsubscribe or ping.`)
  const fault = firstFault(message, action)
  if (fault)
    return { code: fault.field === 'type' ? 'UNSUPPORTED_TYPE' : 'BAD_MESSAGE', message: fault.message }
  if (action === 'ping') return { action, entries: 0 }
  const symbols = message['symbols'] as readonly string[]
  if (action === 'subscribe') return subscription(message, symbols)
  return { action, symbols: new Set(symbols), entries: symbols.length }
}

function subscription(
  { since, markers, format }: Readonly<Record<string, unknown>>,
  list: readonly string[],
): ClientMessage | InvalidMessage {
  const symbols = new Map<string, FeedSeconds | undefined>()
  for (const symbol of list) symbols.set(symbol, timeOf(symbol, since))
  const times = typeof since === 'object' ? Object.keys(since as object) : []
  for (const name of times) {
    if (!symbols.has(name)) return bad(`since names ${show(name)}, which is not in symbols.`)
  }
  if (typeof since === 'number') {
    const feeds = new Set(list.flatMap((symbol) => parseCompoundKey(symbol)?.feed ?? []))
    if (feeds.size > 1) return bad(`since is one time for symbols of ${feeds.size} feeds; ${mustBeSince}`)
  }
  return {
    action: 'subscribe',
    symbols,
    resumes: since !== undefined,
    markers: typeof markers === 'boolean' ? markers : undefined,
    format: format === 'rows' ? format : 'bar',
    entries: list.length + (typeof since === 'number' ? list.length : times.length),
  }
}

/** The time of a symbol. For a name such as `constructor` the object has an inherited value, which is not a number. */
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
  /** Only bars that open later may be missing on this socket; absent if no such time is known. */
  readonly after?: FeedSeconds | undefined
  /** Bars that open later are delivered; absent: bars may be missing until now. */
  readonly until?: FeedSeconds | undefined
}

/** Server messages as JSON text, fields in the specification's order. `barFrame` makes those of bars. */
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
  /** `since` is only for a client that sent it: by symbol, the time after which bars follow. */
  subscribed: (
    symbols: readonly string[],
    rejected: readonly string[],
    since?: ReadonlyMap<string, FeedSeconds>,
  ): string =>
    JSON.stringify({ type: 'subscribed', symbols, rejected, since: since && Object.fromEntries(since) }),
  /** All bars of the minute that opened at `time` were sent. Only for clients that asked for markers. */
  minute: (feed: FeedKey, time: FeedSeconds): string => JSON.stringify({ type: 'minute', feed, time }),
  /** `reason` is set if the client did not ask: its key has no access to the feed any more. */
  unsubscribed: (symbols: readonly string[], reason?: 'SYMBOL_NOT_PERMITTED'): string =>
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
