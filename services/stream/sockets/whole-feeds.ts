import { isGranted } from '../../access/grant.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Cancel } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { subscribedFrames } from '../connection/name-symbols.ts'
import type { SharedDeps } from '../deps.ts'
import { hasSymbol, symbolsOf } from '../fan-out/subscriptions.ts'

/** Symbols that waited get free places only after this time: a client that subscribes again at once keeps its symbol. */
const fillDelayMs = 1_000

/** A feed that a socket subscribed to with all its symbols. */
interface WholeFeed {
  /** Symbols that the client unsubscribed from. */
  readonly declined: Set<CompoundKey>
  /** Whether a symbol found no place. */
  hasRejected: boolean
}

interface Outcome {
  readonly symbols: CompoundKey[]
  readonly rejected: CompoundKey[]
}

type WholeFeedsDeps = Pick<SharedDeps, 'clock' | 'registry' | 'subscriptions' | 'fanOut'>

const byCompoundKey = (a: FeedKey, b: FeedKey): number => (`${a}:` < `${b}:` ? -1 : 1)

/**
 * Sockets that subscribed to whole feeds. A new symbol joins by itself. A symbol that found no place joins soon after one is
 * free, in the order of the requests, then by compound key.
 */
export class WholeFeeds {
  readonly #deps: WholeFeedsDeps
  readonly #sockets = new Map<Connection, Map<FeedKey, WholeFeed>>()
  /** Symbols of each feed that a socket asked for, as of the last change of the registry. */
  readonly #known = new Map<FeedKey, readonly SymbolRecord[]>()
  /** Sockets whose free places are kept for their client until a timer ends. */
  readonly #kept = new Map<Connection, Cancel>()
  readonly close: () => void

  constructor(deps: WholeFeedsDeps) {
    this.#deps = deps
    const stop = deps.registry.onChange((view) => this.#follow(view))
    this.close = () => {
      stop()
      for (const cancel of this.#kept.values()) cancel()
    }
  }

  of(connection: Connection): Iterable<FeedKey> {
    return this.#sockets.get(connection)?.keys() ?? []
  }

  /** The feeds of all symbols of the socket, and its whole feeds, which may have no symbol. */
  feedsOf(connection: Connection): ReadonlySet<FeedKey> {
    const own = symbolsOf(this.#deps.subscriptions, connection.row).map(feedOf)
    return new Set([...own, ...this.of(connection)])
  }

  /** Subscribes to all symbols of these granted feeds but `named`, which the same message lists. */
  add(
    connection: Connection,
    feeds: readonly FeedKey[],
    key: KeyRecord,
    named: { has(symbol: string): boolean },
  ): Outcome {
    const view = this.#deps.registry.view()
    const own = this.#sockets.get(connection) ?? new Map<FeedKey, WholeFeed>()
    if (feeds.length > 0) this.#sockets.set(connection, own)
    const all: Outcome = { symbols: [], rejected: [] }
    for (const feed of feeds.toSorted(byCompoundKey)) {
      const records = view.symbolsOf(feed)
      this.#known.set(feed, records)
      const others = records.map(({ symbol }) => symbol).filter((symbol) => !named.has(symbol))
      const { symbols, rejected } = this.#subscribe(connection, key, others)
      // A symbol that the message names may have found no place either.
      const hasRejected = rejected.length > 0 || others.length < records.length
      own.set(feed, { declined: new Set(), hasRejected })
      all.symbols.push(...symbols)
      all.rejected.push(...rejected)
    }
    return all
  }

  /** Ends these feeds of the socket. */
  remove(connection: Connection, feeds: Iterable<FeedKey>): void {
    const own = this.#sockets.get(connection)
    for (const feed of feeds) own?.delete(feed)
    if (own?.size === 0) this.#sockets.delete(connection)
  }

  /** The client unsubscribed from symbols: they join no more by themselves. */
  decline(connection: Connection, names: Iterable<string>): void {
    const own = this.#sockets.get(connection)
    if (!own) return
    const view = this.#deps.registry.view()
    const { symbols } = this.#deps.subscriptions
    for (const name of names) {
      const symbol = name as CompoundKey
      const isKnown = view.symbol(symbol) !== undefined || symbols.knownId(symbol) !== undefined
      if (isKnown) own.get(feedOf(symbol))?.declined.add(symbol)
    }
  }

  /** The client subscribed to symbols, perhaps without success: those that it had left join by themselves again. */
  want(connection: Connection, names: Iterable<string>): void {
    const own = this.#sockets.get(connection)
    if (!own) return
    for (const name of names) {
      const symbol = name as CompoundKey
      const whole = own.get(feedOf(symbol))
      if (whole?.declined.delete(symbol)) whole.hasRejected = true
    }
  }

  /** Must be called after places of the socket became free. */
  fillLater(connection: Connection): void {
    if (!this.#sockets.has(connection)) return
    this.#kept.get(connection)?.()
    const fill = (): void => {
      this.#kept.delete(connection)
      this.#deps.fanOut.flush()
      this.#join(connection, this.#deps.registry.view(), new Map())
    }
    this.#kept.set(
      connection,
      this.#deps.clock.after(fillDelayMs, () => connection.attempt(fill)),
    )
  }

  forget(connection: Connection): void {
    this.#sockets.delete(connection)
    this.#kept.get(connection)?.()
    this.#kept.delete(connection)
  }

  #follow(view: RegistryView): void {
    const added = new Map<FeedKey, readonly CompoundKey[]>()
    for (const [feed, before] of this.#known) {
      const records = view.symbolsOf(feed)
      if (records === before) continue
      const old = new Set(before.map(({ symbol }) => symbol))
      added.set(
        feed,
        records.flatMap(({ symbol }) => (old.has(symbol) ? [] : [symbol])),
      )
      this.#known.set(feed, records)
    }
    if (this.#sockets.size === 0) return
    this.#deps.fanOut.flush()
    for (const connection of this.#sockets.keys()) this.#join(connection, view, added)
  }

  /** Symbols of the socket's feeds join while places are free. Names those that joined, and the `added` ones that did not. */
  #join(
    connection: Connection,
    view: RegistryView,
    added: ReadonlyMap<FeedKey, readonly CompoundKey[]>,
  ): void {
    const { subscriptions } = this.#deps
    const key = view.keys.get(connection.key.id) ?? connection.key
    const all: Outcome = { symbols: [], rejected: [] }
    for (const [feed, whole] of this.#sockets.get(connection) ?? []) {
      const fresh = added.get(feed) ?? []
      const fills = whole.hasRejected && !this.#kept.has(connection)
      if (!isGranted(key, feed) || !(fresh.length > 0 || (fills && this.#isFree(connection, key)))) continue
      const wanted = fills ? view.symbolsOf(feed).map(({ symbol }) => symbol) : fresh
      const missing = wanted.filter(
        (symbol) => !whole.declined.has(symbol) && !hasSymbol(subscriptions, connection.row, symbol),
      )
      const { symbols, rejected } = this.#subscribe(connection, key, missing)
      whole.hasRejected = rejected.length > 0 || (whole.hasRejected && !fills)
      all.symbols.push(...symbols)
      const isFresh = new Set(fresh)
      all.rejected.push(...rejected.filter((symbol) => isFresh.has(symbol)))
    }
    if (all.symbols.length + all.rejected.length > 0)
      connection.write(subscribedFrames({ ...all, reason: 'joined' }))
  }

  #subscribe(connection: Connection, key: KeyRecord, wanted: readonly CompoundKey[]): Outcome {
    const { subscriptions } = this.#deps
    const outcome: Outcome = { symbols: [], rejected: [] }
    for (const symbol of wanted) {
      const isKept = hasSymbol(subscriptions, connection.row, symbol)
      const isAccepted = isKept || this.#isFree(connection, key)
      if (isAccepted && !isKept) subscriptions.add(connection.row, subscriptions.symbols.idOf(symbol))
      outcome[isAccepted ? 'symbols' : 'rejected'].push(symbol)
    }
    return outcome
  }

  #isFree({ row }: Connection, key: KeyRecord): boolean {
    return this.#deps.subscriptions.count(row) < key.limits.wsSymbols
  }
}
