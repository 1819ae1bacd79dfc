import type { CompoundKey } from '../../core/feeds/compound-key.ts'

/**
 * Number and subscriber count of each symbol. A symbol gets its number at first sight and keeps it; the
 * registry limits how many there are.
 */
export class SymbolTable {
  readonly #onAdded: (id: number) => void
  readonly #ids = new Map<CompoundKey, number>()
  readonly #symbols: CompoundKey[] = []
  /** Subscribers by symbol number. */
  readonly #subscribers: number[] = []
  #subscriptions = 0

  /** `onAdded` receives each new number before `idOf` returns it. */
  constructor(onAdded: (id: number) => void) {
    this.#onAdded = onAdded
  }

  /** Subscriptions of all sockets. */
  get subscriptions(): number {
    return this.#subscriptions
  }

  /** The number of the symbol; a symbol without one gets the next. */
  idOf(symbol: CompoundKey): number {
    const known = this.#ids.get(symbol)
    if (known !== undefined) return known
    const id = this.#symbols.push(symbol) - 1
    this.#ids.set(symbol, id)
    this.#subscribers.push(0)
    this.#onAdded(id)
    return id
  }

  /** The number of the symbol, if it has one. */
  knownId(symbol: CompoundKey): number | undefined {
    return this.#ids.get(symbol)
  }

  symbol(id: number): CompoundKey {
    return this.#symbols[id] as CompoundKey
  }

  subscribers(id: number): number {
    return this.#subscribers[id] ?? 0
  }

  /** Symbols with at least one subscriber. */
  subscribedIds(): number[] {
    const ids: number[] = []
    this.#subscribers.forEach((count, id) => count > 0 && ids.push(id))
    return ids
  }

  /** One subscriber more or fewer. */
  count(id: number, by: 1 | -1): void {
    this.#subscribers[id] = this.subscribers(id) + by
    this.#subscriptions += by
  }
}
