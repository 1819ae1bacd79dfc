import type { Series } from '../../../core/bars/series.ts'
import { Unavailable } from '../../../core/failure.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { storageBucketsDefault } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { SharedRun } from '../../../platform/serial.ts'
import { Fields } from '../pg/fields.ts'
import { isTableMissing, type PgPool } from '../pg/pool.ts'
import { bucketOf } from './bucket.ts'
import { listingTables, type MakingDeps, makeTable } from './make-table.ts'
import { retentionOf, type TimedFeed } from './retention.ts'
import { createBars, createWindows } from './statements.ts'
import type { TableRecords } from './table-records.ts'
import { type BarTable, bucketCount, nameOf } from './tables.ts'

export interface TableListDeps extends MakingDeps {
  readonly records: TableRecords
  readonly pool: PgPool
  /** How a feed is stored; `undefined` when no definition exists. */
  readonly timedFeed: (feed: FeedKey) => Promise<TimedFeed | undefined>
}

/**
 * Which tables exist, or are recorded and missing. A table is created when the first bar of its feed and resolution
 * arrives; a recorded one is never created again without a person's decision.
 */
export class TableList {
  readonly #deps: TableListDeps
  #tables = new Map<string, BarTable | undefined>()
  /** By feed and resolution, as of a list. */
  readonly #splitOf = new Map<
    string,
    { readonly of: ReadonlyMap<string, unknown>; readonly tables: readonly (string | undefined)[] }
  >()
  readonly #listings = new SharedRun(() => this.#list())
  readonly #making = new Map<string, Promise<void>>()

  constructor(deps: TableListDeps) {
    this.#deps = deps
  }

  /**
   * Returns what `use` answers for the table of a series, or `none` when the store reports that the table never
   * existed. Rejects with `TableOutOfOrder`.
   */
  async about<T>(series: Series, none: T, use: (table: string) => Promise<T>): Promise<T> {
    if (this.knownTableOf(series) === undefined) await this.refresh()
    const table = this.knownTableOf(series)
    return table === undefined ? none : this.inOrder(table, none, use)
  }

  /** As `about`, for a table that was listed. */
  async inOrder<T>(table: string, none: T, use: (table: string) => Promise<T>): Promise<T> {
    const { records } = this.#deps
    records.refuse(table)
    try {
      return await use(table)
    } catch (cause) {
      if (!isTableMissing(cause)) throw cause
      // It was removed since the last read of the records.
      await records.load()
      await this.refresh()
      records.refuse(table)
      return none
    }
  }

  /** The table of a series' bars; creates it when there is none. */
  async needTableOf(series: Series): Promise<string> {
    const known = this.knownTableOf(series)
    if (known !== undefined) return known
    const id = `${series.feed} ${series.resolution}`
    await this.#once(id, () => this.#make(series.feed, series.resolution))
    const made = this.knownTableOf(series)
    if (made === undefined) throw new Unavailable('store', new Error(`no table for ${id} after making it`))
    return made
  }

  async needWindows(feed: FeedKey): Promise<string> {
    const table = this.#deps.names.windows(feed)
    if (!this.#tables.has(table)) {
      await this.#once(table, async () => {
        await makeTable(table, createWindows, this.#deps)
        await this.#record()
      })
    }
    this.#deps.records.refuse(table)
    return table
  }

  async windowsOf(feed: FeedKey): Promise<string | undefined> {
    const table = await this.listedWindowsOf(feed)
    if (table !== undefined) this.#deps.records.refuse(table)
    return table
  }

  /** The table of the feed's windows, also when it is out of order. */
  async listedWindowsOf(feed: FeedKey): Promise<string | undefined> {
    const table = this.#deps.names.windows(feed)
    if (!this.#tables.has(table)) await this.refresh()
    return this.#tables.has(table) ? table : undefined
  }

  /** All tables of the feed's bars that exist or are recorded. */
  async barTablesOf(feed: FeedKey): Promise<readonly { readonly table: string; readonly holds: BarTable }[]> {
    await this.refresh()
    return [...this.#tables].flatMap(([table, holds]) =>
      holds !== undefined && this.#deps.names.isOf(holds, feed) ? [{ table, holds }] : [],
    )
  }

  /** Updates the list with a query that begins after this call. */
  refresh(): Promise<void> {
    // A query under way may lack a table that was created after it began.
    return this.#listings.run()
  }

  async #list(): Promise<void> {
    const { names, records, pool } = this.#deps
    const tables = new Map<string, BarTable | undefined>()
    const add = (table: string): void => {
      if (names.isOurs(table)) tables.set(table, names.parseBars(table))
    }
    await pool.read({ sql: listingTables, parameterSets: [[]] }, () => {
      tables.clear()
      return (view, start) => add(new Fields(view, start).text() ?? '')
    })
    for (const table of records.recorded()) add(table)
    this.#tables = tables
  }

  /** The table of a series' bars as last listed; does not ask the server. */
  knownTableOf(series: Series): string | undefined {
    const tables = this.#bucketsOf(series.feed, series.resolution)
    return tables.length === 0 ? undefined : tables[bucketOf(nameOf(series), tables.length)]
  }

  /** The tables into which the bars are split, by bucket; two splits at once are a defect of the layout. */
  #bucketsOf(feed: FeedKey, resolution: Resolution): readonly (string | undefined)[] {
    const id = `${feed} ${resolution}`
    const cached = this.#splitOf.get(id)
    if (cached !== undefined && cached.of === this.#tables) return cached.tables
    const splits = new Set<number>()
    for (const holds of this.#tables.values())
      if (holds?.resolution === resolution && this.#deps.names.isOf(holds, feed)) splits.add(holds.buckets)
    if (splits.size > 1)
      throw new Unavailable(
        'store',
        new Error(`the bars of ${id} are split in ${[...splits].join(' and ')} tables at once`),
      )
    const [count = 0] = splits
    const tables = Array.from({ length: count }, (_, bucket) => {
      const table = this.#deps.names.bars(feed, resolution, bucket, count)
      return this.#tables.has(table) ? table : undefined
    })
    this.#splitOf.set(id, { of: this.#tables, tables })
    return tables
  }

  async #make(feed: FeedKey, resolution: Resolution): Promise<void> {
    const { names, timedFeed, records } = this.#deps
    await records.load()
    await this.refresh()
    const timed = await timedFeed(feed)
    const buckets =
      this.#bucketsOf(feed, resolution).length ||
      bucketCount(resolution, timed?.definition.storageBuckets ?? storageBucketsDefault)
    const ttl = timed && retentionOf(timed, resolution)
    for (let bucket = 0; bucket < buckets; bucket++) {
      const table = names.bars(feed, resolution, bucket, buckets)
      if (!records.isRecorded(table))
        await makeTable(table, (name) => createBars(name, resolution, ttl), this.#deps)
    }
    await this.#record()
  }

  async #record(): Promise<void> {
    await this.#deps.records.recordNew(this.#deps)
    await this.refresh()
  }

  #once(id: string, make: () => Promise<void>): Promise<void> {
    const underWay = this.#making.get(id)
    if (underWay !== undefined) return underWay
    const made = make().finally(() => this.#making.delete(id))
    this.#making.set(id, made)
    return made
  }
}
