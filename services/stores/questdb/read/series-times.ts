import { type Series, seriesId } from '../../../core/bars/series.ts'
import type { BarBounds, Span } from '../../../core/bars/window.ts'
import { type FeedSeconds, toSeconds } from '../../../core/clocks/feed-clock.ts'
import { TableOutOfOrder } from '../../../core/failure.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import { compoundKey, type FeedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { LastTimesAs } from '../../../ports/bars.ts'
import type { TakeRow } from '../pg/connection.ts'
import { Fields } from '../pg/fields.ts'
import type { PgPool } from '../pg/pool.ts'
import { microsOf, secondsOf, timeMax } from '../times.ts'
import type { ReadDeps } from './read-bars.ts'
import { readSteps } from './read-steps.ts'
import { spanBounds } from './span-bounds.ts'

export async function lastTimes(
  feed: FeedKey,
  { lane = 'live', reader, isPartial = false }: LastTimesAs,
  { tableList, ...pools }: ReadDeps,
): Promise<ReadonlyMap<string, FeedSeconds>> {
  const times = new Map<string, FeedSeconds>()
  const pool = lane === 'live' ? pools.pool : pools.backfillPool
  const tables = await tableList.barTablesOf(feed)
  const now = toSeconds(pools.clock.utcMs())
  const readTable = async (table: string, resolution: Resolution): Promise<void> => {
    const takeRow: TakeRow = (view, start) => {
      const fields = new Fields(view, start)
      const id = seriesId({ symbol: compoundKey(feed, fields.text() ?? ''), resolution })
      const time = secondsOf(fields.long())
      // The statements go back in time.
      if (!times.has(id)) times.set(id, time)
    }
    const oldest = await oldestTime(table, pool, reader)
    if (oldest === undefined) return
    for (const { from, to } of readSteps({ from: oldest, to: timeMax }, resolution, 'newest', now)) {
      const parameterSets = [[microsOf(from), microsOf(to)]]
      await pool.read({ sql: lastTimesStatement(table), parameterSets }, () => takeRow, { reader })
    }
  }
  await Promise.all(
    tables.map(({ table, holds }) =>
      tableList
        .inOrder(table, undefined, () => readTable(table, holds.resolution))
        .catch((cause: unknown) => {
          if (!isPartial || !(cause instanceof TableOutOfOrder)) throw cause
        }),
    ),
  )
  return times
}

const lastTimesStatement = (table: string): string =>
  `SELECT sym, ts::long FROM '${table}' ` +
  'WHERE ts >= $1::long::timestamp AND ts <= $2::long::timestamp LATEST ON ts PARTITION BY sym'

async function oldestTime(
  table: string,
  pool: PgPool,
  reader: Reader | undefined,
): Promise<FeedSeconds | undefined> {
  let oldest: FeedSeconds | undefined
  const takeRow: TakeRow = (view, start) => {
    oldest = secondsOf(new Fields(view, start).long())
  }
  const statement = { sql: `SELECT ts::long FROM '${table}' ORDER BY ts LIMIT 1`, parameterSets: [[]] }
  await pool.read(statement, () => takeRow, { reader })
  return oldest
}

export async function bounds(
  series: Series,
  spans: readonly Span[],
  reader: Reader | undefined,
  { tableList, pool }: ReadDeps,
): Promise<readonly (BarBounds | undefined)[]> {
  const none = spans.map(() => undefined)
  if (spans.length === 0) return none
  return tableList.about<readonly (BarBounds | undefined)[]>(series, none, (table) =>
    spanBounds(table, series, spans, { pool, reader }),
  )
}
