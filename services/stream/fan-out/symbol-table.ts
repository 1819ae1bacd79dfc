import type { CompoundKey } from '../../core/feeds/compound-key.ts'

declare const symbolId: unique symbol

/** Number of a symbol in this process. The type keeps it apart from the row of a socket. */
export type SymbolId = number & { readonly [symbolId]: true }

/** A symbol gets its number at first sight and keeps it; the registry limits how many there are. */
export class SymbolTable {
  readonly #onAdded: (id: SymbolId) => void
  readonly #ids = new Map<CompoundKey, SymbolId>()
  readonly #symbols: CompoundKey[] = []
  readonly #subscribers: number[] = []
  #subscriptions = 0

  /** `onAdded` receives each new number before `idOf` returns it. */
  constructor(onAdded: (id: SymbolId) => void) {
    this.#onAdded = onAdded
  }

  get subscriptions(): number {
    return this.#subscriptions
  }

  /** The number of the symbol; a symbol without one gets the next. */
  idOf(symbol: CompoundKey): SymbolId {
    const known = this.#ids.get(symbol)
    if (known !== undefined) return known
    const id = (this.#symbols.push(symbol) - 1) as SymbolId
    this.#ids.set(symbol, id)
    this.#subscribers.push(0)
    this.#onAdded(id)
    return id
  }

  knownId(symbol: CompoundKey): SymbolId | undefined {
    return this.#ids.get(symbol)
  }

  symbol(id: SymbolId): CompoundKey {
    return this.#symbols[id] as CompoundKey
  }

  subscribers(id: SymbolId): number {
    return this.#subscribers[id] ?? 0
  }

  /** The symbols with a subscriber. */
  subscribed(): CompoundKey[] {
    return this.#symbols.filter((_, id) => this.subscribers(id as SymbolId) > 0)
  }

  count(id: SymbolId, by: 1 | -1): void {
    this.#subscribers[id] = this.subscribers(id) + by
    this.#subscriptions += by
  }
}
