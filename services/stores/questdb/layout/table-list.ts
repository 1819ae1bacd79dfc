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
import { type BarTable, bucketCount, nameOf } from './tables.ts'

export interface TableListDeps extends MakingDeps {
  readonly pool: PgPool
  /** How a feed is stored; `undefined` when no definition exists. */
  readonly timedFeed: (feed: FeedKey) => Promise<TimedFeed | undefined>
}

/** Which tables exist. A table is created when the first bar of its feed and resolution arrives. */
export class TableList {
  readonly #deps: TableListDeps
  #tables = new Map<string, BarTable | undefined>()
  readonly #listings = new SharedRun(() => this.#list())
  readonly #making = new Map<string, Promise<void>>()

  constructor(deps: TableListDeps) {
    this.#deps = deps
  }

  /** The table of a series' bars, or `undefined` when the store reports that there is none. */
  async #tableOf(series: Series): Promise<string | undefined> {
    const known = this.knownTableOf(series)
    if (known !== undefined) return known
    await this.refresh()
    return this.knownTableOf(series)
  }

  /**
   * Returns what `use` answers for the table of a series, or `none` when the store reports that the table does not
   * exist or was removed.
   */
  async about<T>(series: Series, none: T, use: (table: string) => Promise<T>): Promise<T> {
    const table = await this.#tableOf(series)
    if (table === undefined) return none
    try {
      return await use(table)
    } catch (cause) {
      if (!isTableMissing(cause)) throw cause
      await this.refresh()
      const now = this.knownTableOf(series)
      return now === undefined ? none : await use(now)
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
        await this.refresh()
      })
    }
    return table
  }

  async windowsOf(feed: FeedKey): Promise<string | undefined> {
    const table = this.#deps.names.windows(feed)
    if (!this.#tables.has(table)) await this.refresh()
    return this.#tables.has(table) ? table : undefined
  }

  /** All existing tables of the feed's bars. */
  async barTablesOf(feed: FeedKey): Promise<readonly { readonly table: string; readonly holds: BarTable }[]> {
    await this.refresh()
    return [...this.#tables].flatMap(([table, holds]) =>
      holds !== undefined && this.#deps.names.isOf(holds, feed) ? [{ table, holds }] : [],
    )
  }

  /** Updates the list with a query that begins after this call. */
  refresh(): Promise<void> {
    // A query under way may lack a table that was created meanwhile.
    return this.#listings.run()
  }

  async #list(): Promise<void> {
    const tables = new Map<string, BarTable | undefined>()
    await this.#deps.pool.read({ sql: listingTables, parameterSets: [[]] }, () => {
      tables.clear()
      return (view, start) => {
        const table = new Fields(view, start).text() ?? ''
        if (this.#deps.names.isOurs(table)) tables.set(table, this.#deps.names.parseBars(table))
      }
    })
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

  #splitOf = new Map<
    string,
    { readonly of: ReadonlyMap<string, unknown>; readonly tables: readonly (string | undefined)[] }
  >()

  async #make(feed: FeedKey, resolution: Resolution): Promise<void> {
    const { names, timedFeed } = this.#deps
    await this.refresh()
    const timed = await timedFeed(feed)
    const buckets =
      this.#bucketsOf(feed, resolution).length ||
      bucketCount(resolution, timed?.definition.storageBuckets ?? storageBucketsDefault)
    const ttl = timed && retentionOf(timed, resolution)
    for (let bucket = 0; bucket < buckets; bucket++)
      await makeTable(
        names.bars(feed, resolution, bucket, buckets),
        (name) => createBars(name, resolution, ttl),
        this.#deps,
      )
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
