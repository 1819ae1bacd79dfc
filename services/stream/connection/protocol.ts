import type { FeedSeconds, UtcSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, parseCompoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedStatus } from '../../core/feeds/feed-status.ts'
import { show } from '../../core/show.ts'
import { type EventName, type Format, mustBeSince } from '../../frames/client-messages.ts'
import { firstFault, isAction } from '../../frames/first-fault.ts'
import type { BusEvent } from '../../ports/bus.ts'

/** A client message, validated. `symbols` are as the client sent them: any strings, each once, in its order. */
export type ClientMessage =
  | {
      readonly action: 'subscribe'
      /** The symbols, each with the time after which the client wants bars, if it sent one. */
      readonly symbols: ReadonlyMap<string, FeedSeconds | undefined>
      /** Feeds to subscribe to with all their symbols; `undefined` if the message has no such list. */
      readonly feeds: ReadonlySet<string> | undefined
      /** Whether the client sent `since`, perhaps without a time for any symbol. */
      readonly resumes: boolean
      /** Whether the client wants a frame for each complete minute; `undefined`: as before. */
      readonly markers: boolean | undefined
      /** What else the client wants to know of the symbols' feeds; `undefined`: as before. */
      readonly events: ReadonlySet<EventName> | undefined
      /** How the socket gets its bars. Only its first `subscribe` decides. */
      readonly format: Format
      /** Number of symbols, feeds and times in the message. */
      readonly entries: number
    }
  | {
      readonly action: 'unsubscribe'
      readonly symbols: ReadonlySet<string>
      readonly feeds: ReadonlySet<string> | undefined
      readonly entries: number
    }
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
  const symbols = (message['symbols'] ?? []) as readonly string[]
  if (action === 'subscribe') return subscription(message, symbols)
  const feeds = feedsOf(message)
  return { action, symbols: new Set(symbols), feeds, entries: symbols.length + (feeds?.size ?? 0) }
}

const feedsOf = ({ feeds }: Readonly<Record<string, unknown>>): ReadonlySet<string> | undefined =>
  feeds === undefined ? undefined : new Set(feeds as readonly string[])

function subscription(
  message: Readonly<Record<string, unknown>>,
  list: readonly string[],
): ClientMessage | InvalidMessage {
  const { since, markers, events, format } = message
  const whole = feedsOf(message)
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
    feeds: whole,
    resumes: since !== undefined,
    markers: typeof markers === 'boolean' ? markers : undefined,
    events: Array.isArray(events) ? new Set<EventName>(events) : undefined,
    format: format === 'rows' ? format : 'bar',
    entries: list.length + (whole?.size ?? 0) + (typeof since === 'number' ? list.length : times.length),
  }
}

/** The time of a symbol. For a name such as `constructor` the object has an inherited value, which is not a number. */
function timeOf(symbol: string, since: unknown): FeedSeconds | undefined {
  const time = typeof since === 'object' ? (since as Readonly<Record<string, unknown>>)[symbol] : since
  return typeof time === 'number' ? (time as FeedSeconds) : undefined
}

interface ConnectionLimits {
  readonly maxSymbols: number
  readonly idleTimeoutSeconds: number
  readonly maxMessageBytes: number
}

/** What `subscribed` says only of whole feeds. */
interface OfFeeds {
  readonly rejected_feeds?: readonly string[] | undefined
  readonly reason?: 'joined' | undefined
  readonly last?: true | undefined
}

/** What a `feed` frame says. `changedAt`: when this process first saw it. */
export interface ShownStatus extends Pick<FeedStatus, 'status' | 'liveness_source'> {
  readonly changedAt: UtcSeconds
}

/** History shows other bars of the series, from one open time to another. */
export type Revised = Omit<Extract<BusEvent, { type: 'revised' }>, 'type'>

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
    ofFeeds?: OfFeeds,
  ): string =>
    JSON.stringify({
      type: 'subscribed',
      symbols,
      rejected,
      since: since && Object.fromEntries(since),
      ...ofFeeds,
    }),
  /** All bars of the minute that opened at `time` were sent. Only for clients that asked for markers. */
  minute: (feed: FeedKey, time: FeedSeconds): string => JSON.stringify({ type: 'minute', feed, time }),
  feed: (feed: FeedKey, { status, changedAt, liveness_source }: ShownStatus): string =>
    JSON.stringify({ type: 'feed', feed, status, changed_at: changedAt, liveness_source }),
  revised: ({ series: { symbol, resolution }, from, to }: Revised): string =>
    JSON.stringify({ type: 'revised', symbol, resolution, from, to }),
  /** `reason` is set if the client did not ask: its key has no access to the feed any more. */
  unsubscribed: (symbols: readonly string[], reason?: 'SYMBOL_NOT_PERMITTED', last?: true): string =>
    JSON.stringify({ type: 'unsubscribed', symbols, reason, last }),
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
