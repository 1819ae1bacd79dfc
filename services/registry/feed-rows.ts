import { isDeepStrictEqual } from 'node:util'
import { compoundKey, type FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedOwner, ListedSymbol } from '../core/feeds/feed.ts'
import { type SymbolRecord, sessionOfType } from '../core/feeds/symbol.ts'
import { cleanNames } from '../core/feeds/symbol-name.ts'
import type { ManifestFault } from '../core/manifest/document.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { RegistryBody } from '../ports/registry.ts'

export interface FeedFault extends ManifestFault {
  readonly feed: FeedKey
}

/** The rows to write so that the registry has the feed with this definition and owner; only differences. */
export function feedRows(definition: FeedDefinition, owner: FeedOwner, view: RegistryView): RegistryBody[] {
  const had = view.feedRecords.get(definition.key)
  const body = { definition, hidden: false, ...(owner !== undefined && { owner }) }
  const rows: RegistryBody[] = sameRecord(had, body) ? [] : [{ kind: 'feed', id: definition.key, body }]
  return [...rows, ...symbolRows(definition, view)]
}

/**
 * Faults of changed immutable fields. Bars are stored by broker and account, in a fixed number of buckets.
 * `isOther`: whether a feed that has the name of this one is another feed, so that only the name moves.
 */
export function immutableFaults(
  definition: FeedDefinition,
  view: RegistryView,
  isOther: (feed: FeedKey) => boolean,
): FeedFault[] {
  const faults: FeedFault[] = []
  const fault = (path: FeedFault['path'], message: string): void =>
    void faults.push({ feed: definition.key, path, message })
  const renamed = view.feeds().find(({ name, key }) => name === definition.name && key !== definition.key)
  if (renamed && !isOther(renamed.key)) {
    fault(
      ['spec', renamed.broker === definition.broker ? 'account' : 'broker'],
      `got ${definition.key}, wanted ${renamed.key}: broker and account of "${definition.name}" cannot change; ` +
        'give another feed another metadata.name',
    )
  }
  const had = view.feedRecords.get(definition.key)?.definition
  if (had && had.storageBuckets !== definition.storageBuckets) {
    fault(
      ['spec', 'storage', 'buckets'],
      `got ${definition.storageBuckets}, wanted ${had.storageBuckets}: the bars of ${definition.key} are stored in so many`,
    )
  }
  return faults
}

function symbolRows(definition: FeedDefinition, view: RegistryView): RegistryBody[] {
  const had = new Map(view.allSymbolsOf(definition.key).map((symbol) => [symbol.symbol, symbol]))
  const named = new Set(definition.symbols.flatMap(({ raw, name }) => (name === undefined ? [] : raw)))
  const nameOf = cleanNames(definition)
  const rows: RegistryBody[] = []
  for (const listed of definition.symbols) {
    const wanted = symbolOf(listed, nameOf(listed.raw), definition)
    const old = had.get(wanted.symbol)
    had.delete(wanted.symbol)
    // `since` comes from live sessions, not from a manifest. While the symbol was hidden, its bars did not have to be sent.
    const since = old?.hidden === false ? old.since : undefined
    const body = since === undefined ? wanted : { ...wanted, since }
    if (!sameRecord(old, body)) rows.push({ kind: 'symbol', id: body.symbol, body })
  }
  for (const symbol of had.values()) {
    // A session that still sends the bars of a renamed symbol under its earlier name ends with the next one.
    const isGone = symbol.origin === 'manifest' || named.has(symbol.raw)
    if (!isGone || symbol.hidden) continue
    rows.push({ kind: 'symbol', id: symbol.symbol, body: { ...symbol, hidden: true } })
  }
  return rows
}

function symbolOf(listed: ListedSymbol, name: string, definition: FeedDefinition): SymbolRecord {
  return {
    symbol: compoundKey(definition.key, name),
    feed: definition.key,
    name,
    raw: listed.raw,
    display: listed.display ?? name,
    description: listed.description ?? '',
    type: listed.type,
    digits: listed.digits,
    session: listed.session ?? sessionOfType(listed.type),
    delaySeconds: listed.delaySeconds ?? definition.delaySeconds,
    origin: 'manifest',
    hidden: false,
  }
}

/** Compares records as stored: an absent field equals an undefined one. */
export const sameRecord = (a: object | undefined, b: object): boolean =>
  a !== undefined && isDeepStrictEqual(stored(a), stored(b))
const stored = (record: object): unknown => JSON.parse(JSON.stringify(record))
