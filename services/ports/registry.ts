import type { ClockReading } from '../core/clocks/clock-history.ts'
import type { FeedRecord } from '../core/feeds/feed.ts'
import type { SymbolRecord } from '../core/feeds/symbol.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'

/** A whole record, which replaces the record before. `id`: feed key, compound key, key id, or id of a clock reading. */
export type RegistryBody =
  | { readonly kind: 'feed'; readonly id: string; readonly body: FeedRecord }
  | { readonly kind: 'symbol'; readonly id: string; readonly body: SymbolRecord }
  | { readonly kind: 'key'; readonly id: string; readonly body: KeyRecord }
  | { readonly kind: 'clock'; readonly id: string; readonly body: ClockReading }

export type RegistryRow = RegistryBody & {
  /** Grows by one per change of the whole registry. */
  readonly version: number
}

/**
 * Feeds, symbols, keys as digests and the history of clocks. One writer. Contract
 * (test/contract/suites/registry.ts):
 *  - `append` stores all rows or none and resolves after the commit; the first row gets `basedOn + 1`, each
 *    further one the next. When the registry has changed since `basedOn`, it stores nothing and answers
 *    `conflict`;
 *  - `since(version)` returns the newest row of each id whose version is greater, ascending by version.
 */
export interface RegistryStore {
  append(basedOn: number, rows: readonly RegistryBody[]): Promise<AppendOutcome>
  since(version: number): Promise<readonly RegistryRow[]>
}

export type AppendOutcome =
  | { readonly outcome: 'stored'; readonly version: number }
  | { readonly outcome: 'conflict' }
