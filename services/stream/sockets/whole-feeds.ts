import { isGranted } from '../../access/grant.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { KeyRecord } from '../../core/keys/api-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { Connection } from '../connection/connection.ts'
import { subscribedFrames } from '../connection/name-symbols.ts'
import type { SharedDeps } from '../deps.ts'

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

type WholeFeedsDeps = Pick<SharedDeps, 'registry' | 'subscriptions' | 'fanOut'>

const byCompoundKey = (a: FeedKey, b: FeedKey): number => (`${a}:` < `${b}:` ? -1 : 1)

/**
 * Sockets that subscribed to whole feeds. A new symbol joins by itself. A symbol that found no place joins once one is
 * free, in the order of the requests, then by compound key.
 */
export class WholeFeeds {
  readonly #deps: WholeFeedsDeps
  readonly #sockets = new Map<Connection, Map<FeedKey, WholeFeed>>()
  /** Symbols of each feed that a socket asked for, as of the last change of the registry. */
  readonly #known = new Map<FeedKey, readonly SymbolRecord[]>()
  readonly close: () => void

  constructor(deps: WholeFeedsDeps) {
    this.#deps = deps
    this.close = deps.registry.onChange((view) => this.#follow(view))
  }

  of(connection: Connection): Iterable<FeedKey> {
    return this.#sockets.get(connection)?.keys() ?? []
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

  /** Must be called after places of the socket became free. */
  fill(connection: Connection): void {
    this.#join(connection, this.#deps.registry.view(), new Map())
  }

  forget(connection: Connection): void {
    this.#sockets.delete(connection)
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
    const key = view.keys.get(connection.key.id) ?? connection.key
    const all: Outcome = { symbols: [], rejected: [] }
    for (const [feed, whole] of this.#sockets.get(connection) ?? []) {
      const fresh = added.get(feed) ?? []
      if (
        !isGranted(key, feed) ||
        !(fresh.length > 0 || (whole.hasRejected && this.#isFree(connection, key)))
      )
        continue
      const wanted = whole.hasRejected ? view.symbolsOf(feed).map(({ symbol }) => symbol) : fresh
      const missing = wanted.filter(
        (symbol) => !whole.declined.has(symbol) && !this.#isSubscribed(connection, symbol),
      )
      const { symbols, rejected } = this.#subscribe(connection, key, missing)
      whole.hasRejected = rejected.length > 0
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
      const isKept = this.#isSubscribed(connection, symbol)
      const isAccepted = isKept || this.#isFree(connection, key)
      if (isAccepted && !isKept) subscriptions.add(connection.row, subscriptions.symbols.idOf(symbol))
      outcome[isAccepted ? 'symbols' : 'rejected'].push(symbol)
    }
    return outcome
  }

  #isSubscribed({ row }: Connection, symbol: CompoundKey): boolean {
    const { subscriptions } = this.#deps
    const id = subscriptions.symbols.knownId(symbol)
    return id !== undefined && subscriptions.has(row, id)
  }

  #isFree({ row }: Connection, key: KeyRecord): boolean {
    return this.#deps.subscriptions.count(row) < key.limits.wsSymbols
  }
}
