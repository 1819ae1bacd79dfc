import { isDeepStrictEqual } from 'node:util'
import { compoundKey, type FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition, FeedOwner, ListedSymbol } from '../core/feeds/feed.ts'
import type { RegistryView } from '../core/feeds/registry.ts'
import { type SymbolRecord, sessionOfType } from '../core/feeds/symbol.ts'
import { cleanName } from '../core/feeds/symbol-name.ts'
import type { ManifestFault } from '../core/manifest/manifest.ts'
import type { RegistryBody } from '../ports/registry.ts'

export interface FeedFault extends ManifestFault {
  readonly feed: FeedKey
}

/** What must be written so that the registry has the feed as defined and owned; only what differs. */
export function feedRows(definition: FeedDefinition, owner: FeedOwner, view: RegistryView): RegistryBody[] {
  const had = view.allFeeds().find((feed) => feed.definition.key === definition.key)
  const body = { definition, hidden: false, ...(owner !== undefined && { owner }) }
  const rows: RegistryBody[] = sameRecord(had, body) ? [] : [{ kind: 'feed', id: definition.key, body }]
  return [...rows, ...symbolRows(definition, view)]
}

/** Bars are kept under broker and account and in so many buckets; neither can move with them. */
export function immutableFaults(
  definition: FeedDefinition,
  definitions: readonly FeedDefinition[],
  view: RegistryView,
): FeedFault[] {
  const faults: FeedFault[] = []
  const fault = (path: FeedFault['path'], message: string): void =>
    void faults.push({ feed: definition.key, path, message })
  const renamed = view.feeds().find(({ name, key }) => name === definition.name && key !== definition.key)
  // A name that moved on to another feed while its old one keeps a manifest of its own is only a rename.
  if (renamed && !definitions.some((each) => each.key === renamed.key)) {
    fault(
      ['spec', renamed.broker === definition.broker ? 'account' : 'broker'],
      `got ${definition.key}, wanted ${renamed.key}: broker and account of "${definition.name}" cannot change; ` +
        'give another feed another metadata.name',
    )
  }
  const had = view.allFeeds().find((feed) => feed.definition.key === definition.key)?.definition
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
  const rows: RegistryBody[] = []
  for (const listed of definition.symbols) {
    const wanted = symbolOf(listed, definition)
    const old = had.get(wanted.symbol)
    had.delete(wanted.symbol)
    // Which windows cover a symbol is history that no manifest knows.
    const body = old?.since === undefined ? wanted : { ...wanted, since: old.since }
    if (!sameRecord(old, body)) rows.push({ kind: 'symbol', id: body.symbol, body })
  }
  for (const symbol of had.values()) {
    if (symbol.origin !== 'manifest' || symbol.hidden) continue
    rows.push({ kind: 'symbol', id: symbol.symbol, body: { ...symbol, hidden: true } })
  }
  return rows
}

function symbolOf(listed: ListedSymbol, definition: FeedDefinition): SymbolRecord {
  const name = cleanName(listed.raw, definition.suffixes)
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

/** As stored, where an absent field and an undefined one are the same. */
const sameRecord = (a: object | undefined, b: object): boolean =>
  a !== undefined && isDeepStrictEqual(stored(a), stored(b))
const stored = (record: object): unknown => JSON.parse(JSON.stringify(record))
