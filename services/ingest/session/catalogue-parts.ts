import type { Catalogue__Output } from '../../wire/gen/fxd/v1/Catalogue.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { catalogueSymbolsMax } from '../../wire/limits.ts'
import type { WholeCatalogue } from '../check/catalogue.ts'
import { SessionEnd } from '../session-end.ts'

/** Puts the parts of one catalogue together; a part of another revision begins anew. */
export class CatalogueParts {
  #revision: number | undefined
  #symbols: CatalogueSymbol__Output[] = []
  #removed: string[] = []

  /** The whole, with its last part. */
  add({ revision, snapshot, last, symbols, removed }: Catalogue__Output): WholeCatalogue | undefined {
    if (revision !== this.#revision) this.#clear(revision)
    this.#symbols.push(...symbols)
    this.#removed.push(...removed)
    const count = this.#symbols.length + this.#removed.length
    if (count > catalogueSymbolsMax) {
      throw new SessionEnd(
        'RESOURCE_EXHAUSTED',
        `a catalogue of ${count} symbols; at most ${catalogueSymbolsMax} are taken`,
      )
    }
    if (!last) return undefined
    const whole = { snapshot, symbols: this.#symbols, removed: this.#removed }
    this.#clear(undefined)
    return whole
  }

  #clear(revision: number | undefined): void {
    this.#revision = revision
    this.#symbols = []
    this.#removed = []
  }
}
