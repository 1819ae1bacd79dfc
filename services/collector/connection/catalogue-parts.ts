import type { Catalogue } from '../../wire/gen/fxd/v1/Catalogue.ts'
import type { CataloguedName__Output } from '../../wire/gen/fxd/v1/CataloguedName.ts'
import type { CatalogueRefusal__Output } from '../../wire/gen/fxd/v1/CatalogueRefusal.ts'
import type { CatalogueSymbol } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { partsOf } from '../../wire/parts.ts'
import type { Listing } from '../source.ts'

const bytesPerSymbol = 64
const bytesPerCharacter = 3

/** Splits a catalogue into messages within the wire's size limit. At least one; the last has `last` set. */
export function* catalogueParts(
  revision: number,
  symbols: readonly CatalogueSymbol[],
  { snapshot }: Listing,
): Generator<Catalogue> {
  for (const { part, last } of partsOf(symbols, bytesOf)) yield { revision, snapshot, last, symbols: part }
}

function bytesOf({ raw = '', name = '', display = '', description = '' }: CatalogueSymbol): number {
  return bytesPerSymbol + (raw + name + display + description).length * bytesPerCharacter
}

export interface Catalogued {
  readonly names: CataloguedName__Output[]
  readonly refused: CatalogueRefusal__Output[]
}
