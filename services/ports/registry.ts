import type { RegistryBody, RegistryRow } from '../core/registry/registry.ts'

export type { RegistryBody, RegistryRow }

/**
 * Feeds, symbols, keys as digests and the history of clocks. One writer. Contract
 * (test/contract/suites/registry.ts):
 *  - `append` stores all rows or none and resolves after the commit. The first row gets version
 *    `basedOn + 1`, and each later row the next version. When the registry has changed since `basedOn`, then
 *    `append` stores nothing and returns `conflict`;
 *  - `since(version)` returns the newest row of each id that changed after `version`, ascending by version.
 */
export interface RegistryStore {
  /** Changes when another registry replaced the one before, whose rows are void then. */
  readonly generation?: number
  append(basedOn: number, rows: readonly RegistryBody[]): Promise<AppendOutcome>
  since(version: number): Promise<readonly RegistryRow[]>
}

export type AppendOutcome =
  | { readonly outcome: 'stored'; readonly version: number }
  | { readonly outcome: 'conflict' }
