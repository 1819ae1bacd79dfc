import type { UtcMs } from '../clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, parseCompoundKey } from '../feeds/compound-key.ts'
import type { FeedDefinition, FeedRecord } from '../feeds/feed.ts'
import type { SymbolRecord } from '../feeds/symbol.ts'
import type { KeyRecord } from '../keys/api-key.ts'
import { KeyIndex, type KeyView } from '../keys/key-index.ts'
import type { ClockReading } from './clock-history.ts'
import type { TerminalPinRecord } from './terminal-pin.ts'

/** What roles read of the registry: feeds, symbols and keys in memory, as of one version. */
export interface RegistryView {
  readonly version: number
  readonly keys: KeyView
  /** By key, hidden feeds included. */
  readonly feedRecords: ReadonlyMap<string, FeedRecord>
  /** The version of the newest `fxd backfill`, by feed. */
  readonly backfills: ReadonlyMap<string, number>
  /** Without hidden feeds, which do not exist for readers. Ordered by key. */
  feeds(): readonly FeedDefinition[]
  feed(key: FeedKey): FeedDefinition | undefined
  /** Hidden feeds included, for administration. */
  allFeeds(): readonly FeedRecord[]
  /** Only a shown symbol of a shown feed. */
  symbol(key: CompoundKey): SymbolRecord | undefined
  /** Shown symbols of one feed, ordered by compound key. */
  symbolsOf(feed: FeedKey): readonly SymbolRecord[]
  /** Hidden symbols included, to compare with the catalogue of a collector. In no order. */
  allSymbolsOf(feed: FeedKey): readonly SymbolRecord[]
  /** Number of the feed's symbols, hidden ones included, freed ones not. */
  symbolCount(feed: FeedKey): number
  /** Readings of the feed's clock, in the order of time. */
  clocksOf(feed: FeedKey): readonly ClockReading[]
  /** Identity of the terminal that each feed accepts; `undefined`: the next one. */
  readonly terminals: ReadonlyMap<FeedKey, string | undefined>
  /** The version of one record, on which a change is based. */
  versionOf(id: string): number
}

/** Windows of the feed were withdrawn: each ingest reads them again, and its session starts again. */
interface Backfill {
  readonly requestedAt: UtcMs
}

/**
 * A whole record, which replaces the record before. `id`: the feed key of a feed or a backfill, the compound key of a
 * symbol, or the id of a key, a clock reading or a terminal.
 */
export type RegistryBody =
  | { readonly kind: 'feed'; readonly id: string; readonly body: FeedRecord }
  | { readonly kind: 'symbol'; readonly id: string; readonly body: SymbolRecord }
  | { readonly kind: 'key'; readonly id: string; readonly body: KeyRecord }
  | { readonly kind: 'clock'; readonly id: string; readonly body: ClockReading }
  | { readonly kind: 'backfill'; readonly id: string; readonly body: Backfill }
  | { readonly kind: 'terminal'; readonly id: string; readonly body: TerminalPinRecord }

export type RegistryRow = RegistryBody & {
  /** Grows by one per change of the whole registry. */
  readonly version: number
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/**
 * The registry from its rows. Rows may be applied in any order and repeatedly; the greatest version of each id
 * is kept. A freed name leaves nothing in memory: an older row of it that is applied later is a hidden name again.
 */
export class Registry implements RegistryView {
  version = 0
  readonly keys = new KeyIndex()
  readonly feedRecords = new Map<string, FeedRecord>()
  readonly backfills = new Map<string, number>()
  /** By kind and id: a catalogue has thousands of symbols, and joined texts would cost most of its time. */
  readonly #versions = new Map<string, Map<string, number>>()
  readonly #symbols = new Map<FeedKey, Map<CompoundKey, SymbolRecord>>()
  readonly #clocks = new Map<FeedKey, readonly ClockReading[]>()
  readonly terminals = new Map<FeedKey, string | undefined>()
  readonly #sorted = new Map<FeedKey, readonly SymbolRecord[]>()

  /** Returns whether the row changed anything: it is newer than the known one of its id, and its kind is known. */
  apply(row: RegistryRow): boolean {
    this.version = Math.max(this.version, row.version)
    const versions = this.#versions.get(row.kind) ?? new Map<string, number>()
    if ((versions.get(row.id) ?? 0) >= row.version) return false
    if (row.kind === 'symbol' && row.body.freed) return this.#free(row.body, versions)
    this.#versions.set(row.kind, versions.set(row.id, row.version))
    if (row.kind === 'feed') this.feedRecords.set(row.id, row.body)
    else if (row.kind === 'symbol') this.#applySymbol(row.body)
    else if (row.kind === 'clock') this.#applyClock(row.body)
    else if (row.kind === 'terminal') this.terminals.set(row.body.feed, row.body.identity)
    else if (row.kind === 'key') this.keys.apply(row.body, row.version)
    else if (row.kind === 'backfill') this.backfills.set(row.id, row.version)
    // A later version of fxd may have stored rows of kinds that are unknown here.
    else return false
    return true
  }

  #applySymbol(symbol: SymbolRecord): void {
    const ofFeed = this.#symbols.get(symbol.feed) ?? new Map<CompoundKey, SymbolRecord>()
    this.#symbols.set(symbol.feed, ofFeed.set(symbol.symbol, symbol))
    this.#sorted.delete(symbol.feed)
  }

  #free({ feed, symbol }: SymbolRecord, versions: Map<string, number>): boolean {
    this.#sorted.delete(feed)
    versions.delete(symbol)
    return this.#symbols.get(feed)?.delete(symbol) ?? false
  }

  #applyClock(reading: ClockReading): void {
    const others = this.clocksOf(reading.feed).filter(({ since }) => since !== reading.since)
    const ordered = [...others, reading].sort((a, b) => a.since - b.since)
    this.#clocks.set(reading.feed, ordered)
  }

  feeds(): readonly FeedDefinition[] {
    return this.allFeeds().flatMap((feed) => (feed.hidden ? [] : [feed.definition]))
  }

  feed(key: FeedKey): FeedDefinition | undefined {
    const feed = this.feedRecords.get(key)
    return feed && !feed.hidden ? feed.definition : undefined
  }

  allFeeds(): readonly FeedRecord[] {
    return [...this.feedRecords.values()].sort((a, b) => byText(a.definition.key, b.definition.key))
  }

  symbol(key: CompoundKey): SymbolRecord | undefined {
    const feed = parseCompoundKey(key)?.feed
    const symbol = feed && this.feed(feed) ? this.#symbols.get(feed)?.get(key) : undefined
    return symbol && !symbol.hidden ? symbol : undefined
  }

  symbolsOf(feed: FeedKey): readonly SymbolRecord[] {
    if (!this.feed(feed)) return []
    const known = this.#sorted.get(feed)
    if (known) return known
    const shown = this.allSymbolsOf(feed).filter((symbol) => !symbol.hidden)
    const sorted = shown.sort((a, b) => byText(a.symbol, b.symbol))
    this.#sorted.set(feed, sorted)
    return sorted
  }

  allSymbolsOf(feed: FeedKey): readonly SymbolRecord[] {
    return [...(this.#symbols.get(feed)?.values() ?? [])]
  }

  symbolCount(feed: FeedKey): number {
    return this.#symbols.get(feed)?.size ?? 0
  }

  clocksOf(feed: FeedKey): readonly ClockReading[] {
    return this.#clocks.get(feed) ?? []
  }

  versionOf(id: string): number {
    for (const kind of ['key', 'feed', 'symbol']) {
      const version = this.#versions.get(kind)?.get(id)
      if (version !== undefined) return version
    }
    return 0
  }
}
