import type { FeedKey } from '../core/feeds/compound-key.ts'

/** `missing`: dropped or renamed. `replaced`: another table has its name. */
export type TableState = 'in order' | 'missing' | 'replaced'

export interface StoreTable {
  readonly name: string
  readonly state: TableState
  /** Whether `refill` can make it again: its content can come from the collectors, or is lost. */
  readonly canBeRefilled: boolean
}

/** Tables that people can damage one by one. Reads and writes of a table out of order fail as `TableOutOfOrder`. */
export interface StoreTables {
  /** The tables that the store knows, as they are now. */
  list(): Promise<readonly StoreTable[]>
  /** Why a table that somebody else made cannot be used, with the cure; `undefined`: it can, or it is missing. */
  unfitness(table: string): Promise<string | undefined>
  /** Uses the tables as they are. */
  accept(tables: readonly string[]): Promise<void>
  /**
   * Uses the table as it is, or makes it again, and withdraws the windows of the series in it. Then collectors send their
   * bars again. Another call continues after an error.
   */
  refill(table: string): Promise<void>
  /** Calls `listen` when a table of the feed is in order again, or any process has accepted or refilled it. */
  onRepaired(listen: (feed: FeedKey) => void): void
}
