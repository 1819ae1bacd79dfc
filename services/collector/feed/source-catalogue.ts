import type { CatalogueSymbol } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import type { Listing, SourceSymbol } from '../source.ts'

/** All symbols of a source; kept over all sessions. */
export class SourceCatalogue {
  #symbols = new Map<string, SourceSymbol>()

  take(symbols: readonly SourceSymbol[], { snapshot }: Listing): void {
    if (snapshot) this.#symbols = new Map()
    for (const symbol of symbols)
      this.#symbols.set(symbol.raw, withResolutionsOf(symbol, this.#symbols.get(symbol.raw)))
  }

  get all(): readonly SourceSymbol[] {
    return [...this.#symbols.values()]
  }

  get(raw: string): SourceSymbol | undefined {
    return this.#symbols.get(raw)
  }
}

/** A new file adds a resolution to its symbol and removes none. */
const withResolutionsOf = (symbol: SourceSymbol, had: SourceSymbol | undefined): SourceSymbol =>
  had ? { ...symbol, resolutions: [...new Set([...had.resolutions, ...symbol.resolutions])] } : symbol

export const toWire = (symbol: SourceSymbol): CatalogueSymbol => ({
  raw: symbol.raw,
  digits: symbol.digits,
  display: symbol.display ?? '',
  description: symbol.description ?? '',
  type: symbol.type ?? '',
  session: symbol.session ?? '',
  ...(symbol.delaySeconds !== undefined && { delaySeconds: symbol.delaySeconds }),
})
