import { isGranted } from '../../access/grant.ts'
import { type FeedSeconds, toSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { Connection } from '../connection/connection.ts'
import { type ClientMessage, messages, parseMessage } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'

interface AnswersDeps
  extends Pick<SharedDeps, 'clock' | 'registry' | 'subscriptions' | 'fanOut' | 'metrics'> {
  readonly feeds: LiveFeeds
  readonly resumption: Resumption
}

/** Answers client messages. Each message gets exactly one answer, in the order of the messages. */
export class Answers {
  readonly #deps: AnswersDeps

  constructor(deps: AnswersDeps) {
    this.#deps = deps
  }

  /** Returns the number of entries in the lists of the message; 0 for a refused message. */
  answer(connection: Connection, text: string): number {
    const message = parseMessage(text)
    if ('code' in message) {
      this.#deps.metrics.badMessages.inc()
      connection.send(messages.error(message.code, message.message))
      return 0
    }
    if (message.action === 'ping') connection.send(messages.pong(toSeconds(this.#deps.clock.utcMs())))
    else if (message.action === 'subscribe') this.#subscribe(connection, message)
    else this.#unsubscribe(connection, message.symbols)
    return message.entries
  }

  #subscribe(connection: Connection, { symbols, resumes, markers, format }: Subscribe): void {
    this.#deps.fanOut.flush()
    // `flush` may have closed this socket as too slow; then another socket may get its row.
    if (!connection.open) return
    this.#deps.subscriptions.formats.choose(connection.row, format)
    const view = this.#deps.registry.view()
    const key = view.keys.get(connection.key.id) ?? connection.key
    const accepted: CompoundKey[] = []
    const rejected: string[] = []
    const resumed = new Map<CompoundKey, FeedSeconds>()
    const feeds = new Set<FeedKey>()
    for (const [name, time] of symbols) {
      const symbol = name as CompoundKey
      const isKept = this.#isSubscribed(connection, symbol)
      const record = isKept ? undefined : this.#accept(connection, key, symbol, view)
      if (!isKept && !record) {
        rejected.push(name)
        continue
      }
      accepted.push(symbol)
      feeds.add(feedOf(symbol))
      // A feed without minutes has nothing to send, not even bars that an earlier manifest stored.
      const since = record && view.feed(record.feed)?.resolutions.includes('1') ? time : undefined
      if (record) this.#subscribeTo(connection, symbol, since !== undefined)
      if (record && since !== undefined) resumed.set(symbol, this.#deps.resumption.start(record, since))
    }
    // Before the answer: the answer may close it, and closing frees everything that it has.
    if (markers !== undefined)
      for (const feed of feeds) this.#deps.feeds.of(feed).markers.listen(connection, markers)
    connection.send(messages.subscribed(accepted, rejected, resumes ? resumed : undefined))
    if (resumed.size > 0) this.#deps.resumption.begin(connection, resumed, symbols)
  }

  /** A subscription stays while its symbol is absent from the registry. */
  #isSubscribed({ row }: Connection, symbol: CompoundKey): boolean {
    const { subscriptions } = this.#deps
    const id = subscriptions.symbols.knownId(symbol)
    return id !== undefined && subscriptions.has(row, id)
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

  #unsubscribe(connection: Connection, symbols: ReadonlySet<string>): void {
    this.#deps.fanOut.flush()
    for (const symbol of symbols) {
      const id = this.#deps.subscriptions.symbols.knownId(symbol as CompoundKey)
      if (id !== undefined) this.#deps.subscriptions.remove(connection.row, id)
    }
    this.#deps.resumption.review(connection)
    connection.send(messages.unsubscribed([...symbols]))
  }
}

type Subscribe = Extract<ClientMessage, { action: 'subscribe' }>
