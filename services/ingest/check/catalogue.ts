import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { cleanNames, isCleanName, nameWanted } from '../../core/feeds/symbol-name.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import { show } from '../../core/show.ts'
import type { RegistryBody } from '../../ports/registry.ts'
import type { CatalogueSymbol__Output } from '../../wire/gen/fxd/v1/CatalogueSymbol.ts'
import { feedSymbolsMax } from '../../wire/limits.ts'
import { describeSymbol, symbolFault } from './catalogue-symbol.ts'

export const feedIsFull = `the feed has ${feedSymbolsMax} symbols, hidden ones included; no new name is accepted (see "fxd symbols remove --hidden")`

/** A symbol that the catalogue of a live session no longer lists, and that is still shown. */
export interface Absence {
  /** Time from which feed-wide windows covered it; `undefined` if another process saw it leave. */
  readonly since: FeedSeconds | undefined
  /** End of the last feed-wide window at the time it left. */
  readonly watchedUntil: FeedSeconds
}

export interface CatalogueRefusal {
  readonly raw: string
  readonly reason: string
}

export interface CatalogueChange {
  readonly rows: readonly RegistryBody[]
  readonly result: {
    /** The symbols of this catalogue as they are after the change. */
    readonly symbols: readonly SymbolRecord[]
    readonly refused: readonly CatalogueRefusal[]
    readonly absent: ReadonlyMap<CompoundKey, Absence>
  }
}

export interface WholeCatalogue {
  readonly snapshot: boolean
  readonly symbols: readonly CatalogueSymbol__Output[]
  /** Raw names that a delta removes. */
  readonly removed: readonly string[]
}

export interface CatalogueContext {
  readonly view: RegistryView
  readonly definition: FeedDefinition
  /** Feed-wide windows up to this time do not cover the symbols that are new in the catalogue. */
  readonly watchedUntil: FeedSeconds
  /** Symbols that left the catalogue less than a minute ago, as far as this process saw them leave. */
  readonly absences: { of(symbol: CompoundKey, view: RegistryView): Absence | undefined }
}

/**
 * Decides what the catalogue of a live session changes. The manifest has priority over the catalogue, and the
 * catalogue over imports. A snapshot ends the coverage of symbols that it no longer lists; `Absences` hides
 * them a minute later. If two raw names would become one clean name, the known one keeps it. If both are new,
 * both are refused. New names above `feedSymbolsMax` are refused.
 */
export function decideCatalogue(catalogue: WholeCatalogue, at: CatalogueContext): CatalogueChange {
  const { definition } = at
  const known = new Map(at.view.allSymbolsOf(definition.key).map((symbol) => [symbol.symbol, symbol]))
  const rows: RegistryBody[] = []
  const symbols: SymbolRecord[] = []
  const refused: CatalogueRefusal[] = []
  let room = feedSymbolsMax - known.size
  for (const [name, group] of byCleanName(catalogue.symbols, definition, refused)) {
    const had = known.get(compoundKey(definition.key, name))
    const chosen = chooseRaw(name, group, catalogue.snapshot, had, refused)
    if (chosen === undefined) continue
    if (had === undefined && room <= 0) {
      refused.push({ raw: chosen.raw, reason: feedIsFull })
      continue
    }
    if (had === undefined) room -= 1
    const record = liveRecord(name, chosen, had, at)
    if (!sameSymbol(had, record)) rows.push({ kind: 'symbol', id: record.symbol, body: record })
    symbols.push(record)
  }
  const listed = new Set(symbols.map(({ symbol }) => symbol))
  const removed = new Set(catalogue.removed)
  const absent = new Map<CompoundKey, Absence>()
  for (const had of known.values()) {
    if (listed.has(had.symbol) || !(catalogue.snapshot || removed.has(had.raw))) continue
    const { since, ...body } = had
    if (since !== undefined) rows.push({ kind: 'symbol', id: had.symbol, body })
    if (isAbsent(body)) absent.set(had.symbol, { since, watchedUntil: at.watchedUntil })
  }
  return { rows, result: { symbols, refused, absent } }
}

/** True for a shown symbol that came from a collector and that no collector lists now. */
export const isAbsent = ({ origin, hidden, since }: SymbolRecord): boolean =>
  origin === 'collector' && !hidden && since === undefined

/** Groups raw names by their clean name; refuses what cannot be a symbol. */
function byCleanName(
  symbols: readonly CatalogueSymbol__Output[],
  definition: FeedDefinition,
  refused: CatalogueRefusal[],
): Map<string, CatalogueSymbol__Output[]> {
  const groups = new Map<string, CatalogueSymbol__Output[]>()
  const nameOf = cleanNames(definition)
  for (const symbol of symbols) {
    const name = nameOf(symbol.raw)
    const fault = isCleanName(symbol.raw)
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

/** The symbol of the group that gets the clean name; the others are refused. */
function chooseRaw(
  name: string,
  group: readonly CatalogueSymbol__Output[],
  snapshot: boolean,
  had: SymbolRecord | undefined,
  refused: CatalogueRefusal[],
): CatalogueSymbol__Output | undefined {
  const owner = ownerOf(had, snapshot, group.length)
  const only = group.length === 1 ? group[0] : undefined
  const wins = owner === undefined ? only : group.find(({ raw }) => raw === owner)
  for (const { raw } of group) {
    if (raw === wins?.raw) continue
    const rival = owner ?? group.find((each) => each.raw !== raw)?.raw
    refused.push({
      raw,
      reason: `${show(raw)} and ${show(rival)} would both become ${show(name)}; the feed's symbols.suffixes must keep them apart, or a name in symbols.list`,
    })
  }
  return wins
}

/** The raw name that already owns the clean name. A snapshot may rename what only collectors listed. */
function ownerOf(had: SymbolRecord | undefined, snapshot: boolean, candidates: number): string | undefined {
  if (had === undefined || had.hidden || had.origin === 'import' || isAbsent(had)) return undefined
  return had.origin === 'manifest' || !snapshot || candidates > 1 ? had.raw : undefined
}

function liveRecord(
  name: string,
  symbol: CatalogueSymbol__Output,
  had: SymbolRecord | undefined,
  { view, definition, watchedUntil, absences }: CatalogueContext,
): SymbolRecord {
  const absence = had && absences.of(had.symbol, view)
  // Feed-wide windows that ended before do not cover it.
  const before = absence?.watchedUntil === watchedUntil ? absence.since : undefined
  // After a purge there is no window, and the feed's clock may be earlier than it was.
  const known = had?.hidden === false && watchedUntil > 0 ? had.since : undefined
  const since = known ?? before ?? watchedUntil
  if (had?.origin === 'manifest' && !had.hidden) return { ...had, since }
  return { ...describeSymbol(name, symbol, definition), raw: symbol.raw, origin: 'collector', since }
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

/** Compares the fields that a catalogue can change. */
export const sameSymbol = (a: SymbolRecord | undefined, b: SymbolRecord): boolean =>
  a !== undefined && fields.every((field) => a[field] === b[field])
