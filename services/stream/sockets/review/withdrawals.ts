import { isGranted } from '../../../access/grant.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../../core/registry/registry.ts'
import type { Resumption } from '../../catch-up/resumption.ts'
import type { Connection } from '../../connection/connection.ts'
import { nameGaps } from '../../connection/name-gaps.ts'
import { messages, type SymbolGap, type WithdrawalReason } from '../../connection/protocol.ts'
import type { FanOut } from '../../fan-out/fan-out.ts'
import type { Subscriptions } from '../../fan-out/subscriptions.ts'
import type { SymbolId } from '../../fan-out/symbol-table.ts'
import type { LiveFeeds } from '../../live/live-feeds.ts'
import type { StreamMetrics } from '../../metrics.ts'

/** A former subscription whose symbol left the registry. */
interface Awaited {
  /** The bars that the socket does not get from then on. */
  readonly gap: SymbolGap
  readonly hasMarkers: boolean
}

interface WithdrawalDeps {
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly resumption: Resumption
  readonly feeds: LiveFeeds
  readonly metrics: Pick<StreamMetrics, 'gaps'>
}

/**
 * Ends subscriptions to symbols that left the registry or are no longer granted. When a symbol returns, sockets
 * that await it are subscribed again. Subscribed and awaited symbols of a socket are together at most `ws_symbols`;
 * with more the symbol that was awaited longest is forgotten.
 */
export class Withdrawals {
  readonly #deps: WithdrawalDeps
  readonly #awaited = new Map<Connection, Map<CompoundKey, Awaited>>()
  /** Symbols that a socket awaits or awaited: at most as many as the registry ever had. */
  readonly #absent = new Set<CompoundKey>()

  constructor(deps: WithdrawalDeps) {
    this.#deps = deps
  }

  /** Ends subscriptions to symbols that left the registry, or whose feed left it. */
  unknown(view: RegistryView, open: Iterable<Connection>): void {
    const { subscriptions } = this.#deps
    const unknown = new Set(
      subscriptions.symbols.subscribedIds().filter((id) => !view.symbol(subscriptions.symbols.symbol(id))),
    )
    if (unknown.size === 0) return
    for (const connection of open) this.#withdraw(connection, (id) => unknown.has(id), 'SYMBOL_NOT_FOUND')
  }

  /** Ends subscriptions to feeds that the connection's key may no longer use. */
  ungranted(connection: Connection): void {
    const { subscriptions } = this.#deps
    const isUngranted = (symbol: CompoundKey): boolean => !isGranted(connection.key, feedOf(symbol))
    const awaited = [...(this.#awaited.get(connection)?.keys() ?? [])].filter(isUngranted)
    this.forget(connection, awaited)
    if (awaited.length > 0) connection.send(messages.unsubscribed(awaited, 'SYMBOL_NOT_PERMITTED'))
    this.#withdraw(connection, (id) => isUngranted(subscriptions.symbols.symbol(id)), 'SYMBOL_NOT_PERMITTED')
  }

  /** Subscribes sockets again to symbols that returned to the registry, and names the missed bars. */
  returned(view: RegistryView): void {
    // Ten thousand sockets may await the same symbols: each symbol is looked up once.
    const back = new Set([...this.#absent].filter((symbol) => view.symbol(symbol)))
    if (back.size === 0) return
    for (const symbol of back) this.#absent.delete(symbol)
    for (const [connection, awaited] of this.#awaited) {
      const symbols = [...awaited.keys()].filter((symbol) => back.has(symbol))
      if (symbols.length > 0) this.#begin(connection, symbols)
    }
  }

  /** The client unsubscribed from these symbols, or is subscribed to them: they are no longer awaited. */
  forget(connection: Connection, symbols: Iterable<string>): void {
    const awaited = this.#awaited.get(connection)
    for (const symbol of symbols) awaited?.delete(symbol as CompoundKey)
    if (awaited?.size === 0) this.#awaited.delete(connection)
  }

  /** The client wants no more markers of the feed, also when its absent symbols return. */
  unmark(connection: Connection, feed: FeedKey): void {
    const awaited = this.#awaited.get(connection)
    for (const [symbol, each] of awaited ?? [])
      if (feedOf(symbol) === feed) awaited?.set(symbol, { ...each, hasMarkers: false })
  }

  /** Forgets the symbols that a closed socket awaited. */
  leave(connection: Connection): void {
    this.#awaited.delete(connection)
  }

  /** Must be called when the socket has more subscriptions, or its key allows fewer. */
  bound(connection: Connection): void {
    const awaited = this.#awaited.get(connection)
    if (!awaited) return
    const free = connection.key.limits.wsSymbols - this.#deps.subscriptions.count(connection.row)
    this.forget(connection, [...awaited.keys()].slice(0, Math.max(0, awaited.size - Math.max(0, free))))
  }

  #withdraw(connection: Connection, isGone: (id: SymbolId) => boolean, reason: WithdrawalReason): void {
    const { subscriptions, fanOut, resumption } = this.#deps
    const ids = subscriptions.idsOf(connection.row).filter(isGone)
    if (ids.length === 0) return
    fanOut.settle()
    // It may have been closed as too slow just now: then nothing is kept for it.
    if (!connection.open) return
    if (reason === 'SYMBOL_NOT_FOUND') this.#await(connection, ids)
    for (const id of ids) subscriptions.remove(connection.row, id)
    resumption.review(connection)
    connection.send(
      messages.unsubscribed(
        ids.map((id) => subscriptions.symbols.symbol(id)),
        reason,
      ),
    )
  }

  #await(connection: Connection, ids: readonly SymbolId[]): void {
    const { subscriptions, resumption, feeds } = this.#deps
    const unsent = new Map(resumption.unsentGaps(connection).map((gap) => [gap.symbol, gap]))
    const awaited = this.#awaited.get(connection) ?? new Map<CompoundKey, Awaited>()
    this.#awaited.set(connection, awaited)
    for (const id of ids) {
      const symbol = subscriptions.symbols.symbol(id)
      const gap = unsent.get(symbol) ?? feeds.gapOf(symbol)
      this.#absent.add(symbol)
      awaited.set(symbol, { gap, hasMarkers: feeds.of(feedOf(symbol)).markers.has(connection) })
    }
  }

  #begin(connection: Connection, symbols: readonly CompoundKey[]): void {
    const { subscriptions, fanOut, feeds, metrics } = this.#deps
    this.bound(connection)
    const begun = symbols.flatMap((symbol) => {
      const awaited = this.#awaited.get(connection)?.get(symbol)
      return awaited ? [{ symbol, ...awaited }] : []
    })
    this.forget(connection, symbols)
    if (begun.length === 0) return
    fanOut.settle()
    if (!connection.open) return
    for (const { symbol, hasMarkers } of begun) {
      subscriptions.add(connection.row, subscriptions.symbols.idOf(symbol))
      if (hasMarkers) feeds.of(feedOf(symbol)).markers.listen(connection)
    }
    nameGaps(
      connection,
      begun.map(({ gap }) => gap),
      'returned',
      metrics,
    )
    connection.send(
      messages.subscribed(
        begun.map(({ symbol }) => symbol),
        [],
        { reason: 'returned' },
      ),
    )
  }
}
