import { type CompoundKey, compoundKey } from '../core/compound-key.ts'
import type { FeedDefinition } from '../core/feed.ts'
import type { FeedSeconds } from '../core/feed-clock.ts'
import type { RegistryView } from '../core/registry.ts'
import { show } from '../core/show.ts'
import { type SymbolRecord, symbolTypes } from '../core/symbol.ts'
import { cleanName, isCleanName, nameWanted } from '../core/symbol-name.ts'
import type { RegistryBody } from '../ports/registry.ts'
import type { CatalogueSymbol__Output } from '../wire/fxd/v1/CatalogueSymbol.ts'
import { describeSymbol, symbolFault } from './catalogue-symbol.ts'

export interface CatalogueRefusal {
  readonly raw: string
  readonly reason: string
}

export interface CatalogueChange {
  readonly rows: readonly RegistryBody[]
  readonly result: {
    /** The symbols of this catalogue as they stand after the change. */
    readonly symbols: readonly SymbolRecord[]
    readonly refused: readonly CatalogueRefusal[]
  }
}

export interface WholeCatalogue {
  readonly snapshot: boolean
  readonly symbols: readonly CatalogueSymbol__Output[]
  /** Raw names that a delta takes away. */
  readonly removed: readonly string[]
}

export interface CatalogueContext {
  readonly view: RegistryView
  readonly definition: FeedDefinition
  /** Windows of the whole catalogue that end by here were made without the symbols that are new in it. */
  readonly watchedUntil: FeedSeconds
}

/**
 * What a live session's catalogue changes: the manifest wins over it, and it wins over imports. A
 * snapshot takes away what an earlier one brought and this one lacks. Of two raw names that would
 * become one clean name, the one already known keeps it; of two new ones neither gets it.
 */
export function decideCatalogue(catalogue: WholeCatalogue, at: CatalogueContext): CatalogueChange {
  const { definition } = at
  const known = knownSymbols(at)
  const rows: RegistryBody[] = []
  const symbols: SymbolRecord[] = []
  const refused: CatalogueRefusal[] = []
  for (const [name, group] of byCleanName(catalogue.symbols, definition, refused)) {
    const had = known.get(compoundKey(definition.key, name))
    const chosen = chooseRaw(name, group, catalogue.snapshot, had, refused)
    if (chosen === undefined) continue
    const record = liveRecord(name, chosen, had, at)
    if (!sameSymbol(had, record)) rows.push({ kind: 'symbol', id: record.symbol, body: record })
    symbols.push(record)
  }
  const listed = new Set(symbols.map(({ symbol }) => symbol))
  const removed = new Set(catalogue.removed)
  for (const had of known.values()) {
    if (listed.has(had.symbol) || had.since === undefined) continue
    if (catalogue.snapshot || removed.has(had.raw)) rows.push(withdrawn(had))
  }
  return { rows, result: { symbols, refused } }
}

const knownSymbols = ({ view, definition }: CatalogueContext): Map<CompoundKey, SymbolRecord> =>
  new Map(view.allSymbolsOf(definition.key).map((symbol) => [symbol.symbol, symbol]))

/** Raw names under the clean name they become; what cannot be a symbol is refused. */
function byCleanName(
  symbols: readonly CatalogueSymbol__Output[],
  { suffixes }: FeedDefinition,
  refused: CatalogueRefusal[],
): Map<string, CatalogueSymbol__Output[]> {
  const groups = new Map<string, CatalogueSymbol__Output[]>()
  for (const symbol of symbols) {
    const name = cleanName(symbol.raw, suffixes)
    const fault = isCleanName(name)
      ? symbolFault(symbol)
      : `raw: got ${show(symbol.raw)}, wanted ${nameWanted}`
    if (fault !== undefined) {
      refused.push({ raw: symbol.raw, reason: fault })
      continue
    }
    const group = (groups.get(name) ?? []).filter(({ raw }) => raw !== symbol.raw)
    groups.set(name, [...group, symbol])
  }
  return groups
}

function chooseRaw(
  name: string,
  group: readonly CatalogueSymbol__Output[],
  snapshot: boolean,
  had: SymbolRecord | undefined,
  refused: CatalogueRefusal[],
): CatalogueSymbol__Output | undefined {
  const owner = ownerOf(had, snapshot, group.length)
  const chosen = owner === undefined ? group[0] : group.find(({ raw }) => raw === owner)
  const wins = owner !== undefined || group.length === 1 ? chosen : undefined
  for (const { raw } of group) {
    if (raw === wins?.raw) continue
    const rivals = [owner, ...group.map((each) => each.raw)].filter(
      (each) => each !== raw && each !== undefined,
    )
    refused.push({
      raw,
      reason: `${show(raw)} and ${show(rivals[0])} would both become ${show(name)}; the feed's symbols.suffixes must keep them apart`,
    })
  }
  return wins
}

/** The raw name to which a clean name already belongs. A snapshot may rename what only an earlier one brought. */
function ownerOf(had: SymbolRecord | undefined, snapshot: boolean, candidates: number): string | undefined {
  if (had === undefined || had.hidden || had.origin === 'import') return undefined
  return had.origin === 'manifest' || !snapshot || candidates > 1 ? had.raw : undefined
}

function liveRecord(
  name: string,
  symbol: CatalogueSymbol__Output,
  had: SymbolRecord | undefined,
  { definition, watchedUntil }: CatalogueContext,
): SymbolRecord {
  const since = (had?.hidden === false ? had.since : undefined) ?? watchedUntil
  if (had?.origin === 'manifest' && !had.hidden) return { ...had, since }
  return { ...describeSymbol(name, symbol, definition), raw: symbol.raw, origin: 'collector', since }
}

/** What the manifest lists stays listed; it is only no longer watched. */
function withdrawn(had: SymbolRecord): RegistryBody {
  const { since: _, ...rest } = had
  const body = { ...rest, hidden: rest.hidden || rest.origin === 'collector' }
  return { kind: 'symbol', id: had.symbol, body }
}

/** An import only adds: what the manifest or a collector says of a symbol stands. */
export function decideImport(
  asked: readonly CatalogueSymbol__Output[],
  { view, definition }: Omit<CatalogueContext, 'watchedUntil'>,
): CatalogueChange {
  const rows: RegistryBody[] = []
  const symbols: SymbolRecord[] = []
  const refused: CatalogueRefusal[] = []
  for (const each of asked) {
    const key = compoundKey(definition.key, each.name)
    const had = view.symbol(key)
    const fault = isCleanName(each.name)
      ? symbolFault(each)
      : `symbol: got ${show(each.name)}, wanted ${nameWanted}`
    if (fault !== undefined) refused.push({ raw: each.name, reason: fault })
    else if (had !== undefined && had.origin !== 'import') symbols.push(had)
    else {
      const record = importRecord(each, had, definition)
      if (!sameSymbol(had, record)) rows.push({ kind: 'symbol', id: key, body: record })
      symbols.push(record)
    }
  }
  return { rows, result: { symbols, refused } }
}

/** Of an earlier import's words only those that are given anew change; digits never become fewer. */
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
    type: (symbolTypes as readonly string[]).includes(asked.type) ? described.type : had.type,
    session: asked.session === '' ? had.session : described.session,
    digits: Math.max(had.digits, described.digits),
  }
}

const fields = [
  'raw',
  'display',
  'description',
  'type',
  'digits',
  'session',
  'delaySeconds',
  'origin',
  'since',
  'hidden',
] as const

const sameSymbol = (a: SymbolRecord | undefined, b: SymbolRecord): boolean =>
  a !== undefined && fields.every((field) => a[field] === b[field])
