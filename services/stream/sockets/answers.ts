import { isGranted } from '../../access/grant.ts'
import { type FeedSeconds, toSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { Connection } from '../connection/connection.ts'
import { subscribedFrames, unsubscribedFrames } from '../connection/name-symbols.ts'
import { type ClientMessage, messages, parseMessage } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import type { Events } from '../events/events.ts'
import { hasSymbol, symbolsOf } from '../fan-out/subscriptions.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'
import type { WholeFeeds } from './whole-feeds.ts'

interface AnswersDeps
  extends Pick<SharedDeps, 'clock' | 'registry' | 'subscriptions' | 'fanOut' | 'metrics'> {
  readonly feeds: LiveFeeds
  readonly resumption: Resumption
  readonly events: Events
  readonly wholeFeeds: WholeFeeds
}

/** Answers client messages. Each message gets exactly one answer, in the order of the messages. */
export class Answers {
  readonly #deps: AnswersDeps

  constructor(deps: AnswersDeps) {
    this.#deps = deps
  }

  /** Returns the number of entries in the lists of the message, and in its feeds; 0 for a refused message. */
  answer(connection: Connection, text: string): number {
    const message = parseMessage(text)
    if ('code' in message) {
      this.#deps.metrics.badMessages.inc()
      connection.send(messages.error(message.code, message.message))
      return 0
    }
    if (message.action === 'subscribe') return message.entries + this.#subscribe(connection, message)
    if (message.action === 'unsubscribe') return message.entries + this.#unsubscribe(connection, message)
    connection.send(messages.pong(toSeconds(this.#deps.clock.utcMs())))
    return message.entries
  }

  /** Returns how many symbols the answer names because of `feeds`. */
  #subscribe(connection: Connection, message: Subscribe): number {
    const { fanOut, subscriptions, registry, wholeFeeds, resumption } = this.#deps
    const { symbols, resumes, markers, events } = message
    fanOut.flush()
    // `flush` may have closed this socket as too slow; then another socket may get its row.
    if (!connection.open) return 0
    subscriptions.formats.choose(connection.row, message.format)
    const view = registry.view()
    const key = view.keys.get(connection.key.id) ?? connection.key
    const { accepted, rejected, resumed } = this.#subscribeToSymbols(connection, key, message, view)
    wholeFeeds.want(connection, symbols.keys())
    const whole = message.feeds && this.#subscribeToFeeds(connection, key, message, view)
    const feeds = new Set([...accepted.map(feedOf), ...(whole?.feeds ?? [])])
    // Before the answer: the answer may close it, and closing frees everything that it has.
    if (markers !== undefined)
      for (const feed of feeds) this.#deps.feeds.of(feed).markers.listen(connection, markers)
    if (events) this.#deps.events.listen(connection, feeds, events)
    const since = resumes ? resumed : undefined
    if (whole)
      connection.write(
        subscribedFrames({
          symbols: [...accepted, ...whole.symbols],
          rejected: [...rejected, ...whole.rejected],
          since,
          rejectedFeeds: whole.rejectedFeeds,
        }),
      )
    else connection.send(messages.subscribed(accepted, rejected, since))
    if (resumed.size > 0) resumption.begin(connection, resumed, symbols)
    return whole ? whole.symbols.length + whole.rejected.length : 0
  }

  /** `resumed`: symbols whose bars follow after these times, once `resumption` begins. */
  #subscribeToSymbols(connection: Connection, key: KeyRecord, { symbols }: Subscribe, view: RegistryView) {
    const accepted: CompoundKey[] = []
    const rejected: string[] = []
    const resumed = new Map<CompoundKey, FeedSeconds>()
    for (const [name, time] of symbols) {
      const symbol = name as CompoundKey
      // A subscription stays while its symbol is absent from the registry.
      const isKept = hasSymbol(this.#deps.subscriptions, connection.row, symbol)
      const record = isKept ? undefined : this.#accept(connection, key, symbol, view)
      if (!isKept && !record) {
        rejected.push(name)
        continue
      }
      accepted.push(symbol)
      // A feed without minutes has nothing to send, not even bars that an earlier manifest stored.
      const since = record && view.feed(record.feed)?.resolutions.includes('1') ? time : undefined
      if (record) this.#subscribeTo(connection, symbol, since !== undefined)
      if (record && since !== undefined) resumed.set(symbol, this.#deps.resumption.startOf(record, since))
    }
    return { accepted, rejected, resumed }
  }

  #subscribeToFeeds(
    connection: Connection,
    key: KeyRecord,
    { symbols, feeds }: Subscribe,
    view: RegistryView,
  ) {
    const names = [...(feeds ?? [])] as FeedKey[]
    const granted = names.filter((feed) => isGranted(key, feed) && view.feed(feed))
    const rejectedFeeds = names.filter((feed) => !granted.includes(feed))
    return { feeds: granted, rejectedFeeds, ...this.#deps.wholeFeeds.add(connection, granted, key, symbols) }
  }

  /** The symbol, if this key may subscribe to it. */
  #accept(
    { row }: Connection,
    key: KeyRecord,
    symbol: CompoundKey,
    view: RegistryView,
  ): SymbolRecord | undefined {
    const record = view.symbol(symbol)
    const isFull = this.#deps.subscriptions.count(row) >= key.limits.wsSymbols
    return record && isGranted(key, record.feed) && !isFull ? record : undefined
  }

  #subscribeTo({ row }: Connection, symbol: CompoundKey, resumes: boolean): void {
    const { subscriptions } = this.#deps
    const id = subscriptions.symbols.idOf(symbol)
    if (resumes) subscriptions.addDeferred(row, id)
    else subscriptions.add(row, id)
  }

  /** Returns as `#subscribe` does. */
  #unsubscribe(connection: Connection, { symbols, feeds }: Unsubscribe): number {
    const { fanOut, subscriptions, wholeFeeds, resumption, events } = this.#deps
    fanOut.flush()
    if (!connection.open) return 0
    const ended = new Set(symbols)
    for (const symbol of feeds ? symbolsOf(subscriptions, connection.row) : [])
      if (feeds?.has(feedOf(symbol))) ended.add(symbol)
    for (const symbol of ended) {
      const id = subscriptions.symbols.knownId(symbol as CompoundKey)
      if (id !== undefined) subscriptions.remove(connection.row, id)
    }
    wholeFeeds.remove(connection, (feeds ?? []) as Iterable<FeedKey>)
    wholeFeeds.decline(connection, symbols)
    const feedsLeft = () => wholeFeeds.feedsOf(connection)
    resumption.review(connection, feedsLeft)
    events.review(connection, feedsLeft)
    if (feeds) connection.write(unsubscribedFrames([...ended]))
    else connection.send(messages.unsubscribed([...ended]))
    wholeFeeds.fillLater(connection)
    return ended.size - symbols.size
  }
}

type Subscribe = Extract<ClientMessage, { action: 'subscribe' }>
type Unsubscribe = Extract<ClientMessage, { action: 'unsubscribe' }>
