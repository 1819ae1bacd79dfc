import type { StoredDay, StoredSeries } from '../../../core/bars/audit.ts'
import { daySeconds } from '../../../core/clocks/calendar.ts'
import { type CompoundKey, compoundKey } from '../../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { FeedStored } from '../../../doctor/examine-audit.ts'
import { TableList, type TableListDeps } from '../layout/table-list.ts'
import { Fields } from '../pg/fields.ts'
import type { PgPool } from '../pg/pool.ts'
import { type RegistryLog, symbolsOf } from '../registry.ts'
import { secondsOf } from '../times.ts'
import { readWindows } from '../windows.ts'

/** Counting the days of a table reads all of it: half a second for twenty million cached rows. */
const countDeadlineMs = 120_000

export interface StoredBarsDeps extends Omit<TableListDeps, 'timedFeed'> {
  readonly log: RegistryLog
}

export async function storedBarsOf(feed: FeedDefinition, deps: StoredBarsDeps): Promise<FeedStored> {
  const { pool, log } = deps
  const tableList = new TableList({ ...deps, timedFeed: async () => log.timedFeed(feed.key) })
  const stored: StoredSeries[] = []
  for (const { table, holds } of await tableList.barTablesOf(feed.key)) {
    deps.records.refuse(table)
    const days = await daysIn(table, feed, pool)
    for (const [symbol, of] of days)
      stored.push({ symbol, resolution: holds.resolution, days: of.sort((a, b) => a.day - b.day) })
  }
  const symbols = symbolsOf(feed.key, log)
  const windows = await readWindows(feed.key, { tableList, pool })
  return { feed, offsetSeconds: log.timedFeed(feed.key)?.offsetSeconds, symbols, windows, stored }
}

/**
 * Grouped, not filtered by a count: this version of QuestDB counts wrongly around a grouping (`where n <> …`). A bar
 * that was read again has several rows with one time.
 */
async function daysIn(
  table: string,
  { key }: FeedDefinition,
  pool: PgPool,
): Promise<ReadonlyMap<CompoundKey, StoredDay[]>> {
  const days = new Map<CompoundKey, StoredDay[]>()
  const sql = `SELECT sym, timestamp_floor('d', ts)::long AS day, count_distinct(ts) AS bars FROM '${table}' GROUP BY sym, day`
  await pool.read(
    { sql, parameterSets: [[]] },
    () => {
      days.clear()
      return (view, start) => {
        const fields = new Fields(view, start)
        const symbol = compoundKey(key, fields.text() ?? '')
        const stored = { day: secondsOf(fields.long()) / daySeconds, bars: fields.long() }
        const of = days.get(symbol)
        if (of === undefined) days.set(symbol, [stored])
        else of.push(stored)
      }
    },
    { deadlineMs: countDeadlineMs },
  )
  return days
}
