import type { CompoundKey } from '../../core/feeds/compound-key.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { catalogueSymbolsMax, feedSymbolsMax } from '../../wire/limits.ts'
import { type CatalogueChange, feedIsFull } from '../check/catalogue.ts'
import type { GoodSeries, SymbolLookup } from '../check/check-batch.ts'
import { decideImport, isNewName } from '../check/import-catalogue.ts'
import { SessionEnd } from '../session-end.ts'
import type { FeedRegistry } from './feed-registry.ts'

/**
 * The symbols that one import session adds to its feed. A new symbol waits in memory until its first bar is
 * stored: an import adds no symbol if all its bars are refused. At most `catalogueSymbolsMax` symbols wait;
 * above it the session ends with `RESOURCE_EXHAUSTED`.
 */
export class ImportedSymbols {
  readonly #registry: FeedRegistry
  readonly #waiting = new Map<CompoundKey, SymbolRecord>()

  constructor(registry: FeedRegistry) {
    this.#registry = registry
  }

  /** Resolves with the symbols as they are, or as they will be once they have a bar. */
  async take(asked: readonly CatalogueSymbol__Output[]): Promise<CatalogueChange['result']> {
    const { added, ...result } = await this.#registry.change((view) => {
      const change = decideImport(asked, this.#registry.within(view), this.#waiting.keys())
      const isNew = ({ id }: RegistryBody): boolean => view.symbol(id as CompoundKey) === undefined
      const known = change.rows.filter((row) => !isNew(row))
      return { rows: known, result: { ...change.result, added: change.rows.filter(isNew) } }
    })
    for (const { id, body } of added) this.#waiting.set(id as CompoundKey, body as SymbolRecord)
    if (this.#waiting.size > catalogueSymbolsMax) {
      const got = `${this.#waiting.size} symbols without a bar`
      throw new SessionEnd('RESOURCE_EXHAUSTED', `got ${got}, wanted at most ${catalogueSymbolsMax}`)
    }
    return result
  }

  over(view: RegistryView): SymbolLookup {
    if (this.#waiting.size === 0) return view
    return { symbol: (key) => view.symbol(key) ?? this.#waiting.get(key), feed: (key) => view.feed(key) }
  }

  /** Adds the symbols of stored bars to the registry. Rejects with `SessionEnd` without room: the bars then get no Ack. */
  async stored(good: readonly GoodSeries[]): Promise<void> {
    const keys = new Set(good.map(({ series }) => series.symbol).filter((key) => this.#waiting.has(key)))
    if (keys.size === 0) return
    await this.#registry.change((view) => {
      const added = [...keys].filter((key) => view.symbol(key) === undefined)
      const newNames = added.filter((key) => isNewName(key, view)).length
      if (newNames > 0 && view.symbolCount(this.#registry.feed) + newNames > feedSymbolsMax)
        throw new SessionEnd('RESOURCE_EXHAUSTED', feedIsFull)
      const rows = added.flatMap((key): RegistryBody[] => {
        const body = this.#waiting.get(key)
        return body ? [{ kind: 'symbol', id: key, body }] : []
      })
      return { rows, result: undefined }
    })
    for (const key of keys) this.#waiting.delete(key)
  }
}
