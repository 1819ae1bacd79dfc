import { isGranted } from '../../access/grant.ts'
import { type CompoundKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { Connection } from './connection.ts'
import { nameGaps } from './name-gaps.ts'
import { messages, type SymbolGap, type WithdrawalReason } from './protocol.ts'

/** A subscription whose symbol left the registry. */
interface Awaited {
  /** What the socket was not sent from then on. */
  readonly gap: SymbolGap
  readonly hasMarkers: boolean
}

interface WithdrawalDeps {
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly resumption: Resumption
  readonly metrics: Pick<StreamMetrics, 'gaps'>
  /** What a socket that hears nothing more of the symbol misses from now on. */
  readonly gapOf: (id: number) => SymbolGap
}

/**
 * Ends subscriptions that no client ended, and begins those again whose symbol returns. Subscribed and awaited
 * symbols of a socket are together at most `ws_symbols`: beyond that the one awaited longest is forgotten.
 */
export class Withdrawals {
  readonly #deps: WithdrawalDeps
  readonly #awaited = new Map<Connection, Map<CompoundKey, Awaited>>()
  /** Whatever any socket awaits, and what none awaits any more: at most the symbols of the registry. */
  readonly #absent = new Set<CompoundKey>()

  constructor(deps: WithdrawalDeps) {
    this.#deps = deps
  }

  /** Symbols that left the registry, or whose feed did. */
  unknown(view: RegistryView, open: Iterable<Connection>): void {
    const { subscriptions } = this.#deps
    const unknown = new Set(
      subscriptions.symbols.subscribedIds().filter((id) => !view.symbol(subscriptions.symbols.symbol(id))),
    )
    if (unknown.size === 0) return
    for (const connection of open) this.#withdraw(connection, (id) => unknown.has(id), 'SYMBOL_NOT_FOUND')
  }

  /** Symbols of feeds that the connection's key may no longer use. */
  ungranted(connection: Connection): void {
    const { subscriptions } = this.#deps
    const isUngranted = (symbol: CompoundKey): boolean => !isGranted(connection.key, feedOf(symbol))
    this.forget(connection, [...(this.#awaited.get(connection)?.keys() ?? [])].filter(isUngranted))
    this.#withdraw(connection, (id) => isUngranted(subscriptions.symbols.symbol(id)), 'SYMBOL_NOT_PERMITTED')
  }

  /** Subscribes sockets again to what returned to the registry, and names what passed. */
  returned(view: RegistryView): void {
    // Ten thousand sockets may await the same symbols: the registry is asked once for each.
    const back = new Set([...this.#absent].filter((symbol) => view.symbol(symbol)))
    if (back.size === 0) return
    for (const symbol of back) this.#absent.delete(symbol)
    for (const [connection, awaited] of this.#awaited) {
      const symbols = [...awaited.keys()].filter((symbol) => back.has(symbol))
      if (symbols.length > 0) this.#begin(connection, symbols)
    }
  }

  /** The client ended these itself, or is subscribed to them; it need not await any of them. */
  forget(connection: Connection, symbols: Iterable<string>): void {
    const awaited = this.#awaited.get(connection)
    for (const symbol of symbols) awaited?.delete(symbol as CompoundKey)
    if (awaited?.size === 0) this.#awaited.delete(connection)
  }

  /** The socket left. */
  leave(connection: Connection): void {
    this.#awaited.delete(connection)
  }

  /** The socket has subscriptions more, or its key allows fewer. */
  bound(connection: Connection): void {
    const awaited = this.#awaited.get(connection)
    if (!awaited) return
    const room = connection.key.limits.wsSymbols - this.#deps.subscriptions.count(connection.row)
    this.forget(connection, [...awaited.keys()].slice(0, Math.max(0, awaited.size - Math.max(0, room))))
  }

  #withdraw(connection: Connection, isGone: (id: number) => boolean, reason: WithdrawalReason): void {
    const { subscriptions, fanOut, resumption } = this.#deps
    const ids = subscriptions.idsOf(connection.row).filter(isGone)
    if (ids.length === 0) return
    fanOut.settle()
    // It may have been closed as too slow just now: nothing is kept for it any more.
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

  #await(connection: Connection, ids: readonly number[]): void {
    const { subscriptions, resumption, gapOf } = this.#deps
    const owed = new Map(resumption.unsentGaps(connection).map((gap) => [gap.symbol, gap]))
    const marked = new Set(resumption.markedFeeds(connection))
    const awaited = this.#awaited.get(connection) ?? new Map<CompoundKey, Awaited>()
    this.#awaited.set(connection, awaited)
    for (const id of ids) {
      const symbol = subscriptions.symbols.symbol(id)
      const gap = owed.get(symbol) ?? gapOf(id)
      this.#absent.add(symbol)
      awaited.set(symbol, { gap, hasMarkers: marked.has(feedOf(symbol)) })
    }
  }

  #begin(connection: Connection, symbols: readonly CompoundKey[]): void {
    const { subscriptions, fanOut, resumption, metrics } = this.#deps
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
      if (hasMarkers) resumption.mark(connection, feedOf(symbol))
    }
    nameGaps(
      connection,
      begun.map(({ gap }) => gap),
      metrics,
    )
    connection.send(
      messages.subscribed(
        begun.map(({ symbol }) => symbol),
        [],
        undefined,
        'returned',
      ),
    )
  }
}
