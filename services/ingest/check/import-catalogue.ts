import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { cleanNames, isCleanName, nameWanted } from '../../core/feeds/symbol-name.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { feedSymbolsMax } from '../../wire/limits.ts'
import {
  type CatalogueChange,
  type CatalogueContext,
  type CatalogueRefusal,
  feedIsFull,
  sameSymbol,
} from './catalogue.ts'
import { describeSymbol, symbolFault } from './catalogue-symbol.ts'

/** True for a name that the feed never had: hidden symbols also have a version. */
export const isNewName = (key: CompoundKey, view: RegistryView): boolean => view.versionOf(key) === 0

/**
 * What the catalogue of an import changes. It never changes a symbol of the manifest or of a collector. New names
 * above `feedSymbolsMax` are refused; those that wait for their first bar count.
 */
export function decideImport(
  asked: readonly CatalogueSymbol__Output[],
  { view, definition }: Pick<CatalogueContext, 'view' | 'definition'>,
  waiting: Iterable<CompoundKey>,
): CatalogueChange {
  const added = new Set([...waiting].filter((key) => isNewName(key, view)))
  const rows: RegistryBody[] = []
  const symbols: SymbolRecord[] = []
  const refused: CatalogueRefusal[] = []
  for (const each of asked) {
    const key = compoundKey(definition.key, each.name)
    const had = view.symbol(key)
    const isNew = isNewName(key, view) && !added.has(key)
    const isFull = isNew && view.symbolCount(definition.key) + added.size >= feedSymbolsMax
    const fault =
      importNameFault(each.name, definition) ?? symbolFault(each) ?? (isFull ? feedIsFull : undefined)
    if (isNew && fault === undefined) added.add(key)
    if (fault !== undefined) refused.push({ raw: each.name, reason: fault })
    else if (had !== undefined && had.origin !== 'import') symbols.push(had)
    else {
      const record = importRecord(each, had, definition)
      if (!sameSymbol(had, record)) rows.push({ kind: 'symbol', id: key, body: record })
      symbols.push(record)
    }
  }
  return { rows, result: { symbols, refused, absent: new Map() } }
}

/** Faults of a name in an import. Imports use clean names, so a raw name that has another clean name is a fault. */
function importNameFault(name: string, definition: FeedDefinition): string | undefined {
  if (!isCleanName(name)) return `symbol: got ${show(name)}, wanted ${nameWanted}`
  const { key, symbols } = definition
  if (symbols.some((listed) => listed.name === name)) return undefined
  const clean = cleanNames(definition)(name)
  if (clean === name) return undefined
  const why = symbols.some((listed) => listed.raw === name && listed.name !== undefined)
    ? `the manifest gives this raw name of ${key} that name`
    : `${show(name.slice(clean.length))} is a suffix of the raw names of ${key}`
  return `symbol: got ${show(name)}, wanted ${show(clean)}: ${why}`
}

/** The record after an import. Only the given fields of an earlier import change; digits never decrease. */
function importRecord(
  asked: CatalogueSymbol__Output,
  had: SymbolRecord | undefined,
  definition: FeedDefinition,
): SymbolRecord {
  const described = describeSymbol(asked.name, asked, definition)
  if (had === undefined) return { ...described, raw: asked.name, origin: 'import' }
  return {
    ...had,
    display: asked.display === '' ? had.display : described.display,
    description: asked.description === '' ? had.description : described.description,
    type: asked.type === '' ? had.type : described.type,
    session: asked.session === '' ? had.session : described.session,
    digits: Math.max(had.digits, described.digits),
  }
}
