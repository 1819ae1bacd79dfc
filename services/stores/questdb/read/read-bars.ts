import { type Bars, barCount, concatBars, noBars } from '../../../core/bars/bar.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import type { Counter } from '../../../platform/metrics.ts'
import { isShortRead } from '../../../platform/read-turns.ts'
import type { BarQuery } from '../../../ports/bars.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TableList } from '../layout/table-list.ts'
import { nameOf } from '../layout/tables.ts'
import type { PgPool } from '../pg/pool.ts'
import { microsOf, timeMax, timeMin } from '../times.ts'
import { BarPage, barColumns } from './bar-page.ts'
import { readSteps } from './read-steps.ts'

/** Maximum rows of one statement. */
const rowsPerPage = 16_384
/** Extra rows per request, because a corrected bar has a row per revision. */
const spareRows = 8

export interface ReadDeps {
  readonly pool: PgPool
  /** For reads of the backfill lane. It has few connections, so that the server stays free for other reads. */
  readonly backfillPool: PgPool
  readonly tableList: TableList
  readonly clock: Clock
  readonly broken: Counter
}

/** A descending statement reads the index backwards and stops at its limit, however much lies before. */
export const barStatement = (table: string, order: 'ASC' | 'DESC'): string =>
  `SELECT ${barColumns} FROM '${table}' WHERE sym = $1 ` +
  'AND ts >= $2::long::timestamp AND ts <= $3::long::timestamp ' +
  `ORDER BY ts ${order} LIMIT $4::int`

export async function readBars(query: BarQuery, deps: ReadDeps): Promise<Bars> {
  const { series, from, to, take } = query
  if (Math.max(timeMin, from) > Math.min(timeMax, to) || (take && take.count <= 0)) return noBars
  return deps.tableList.about(series, noBars, (table) => readPages(table, query, deps))
}

async function readPages(table: string, query: BarQuery, deps: ReadDeps): Promise<Bars> {
  const whole = { from: Math.max(timeMin, query.from), to: Math.min(timeMax, query.to) }
  const { take } = query
  const wanted = take?.count ?? Number.POSITIVE_INFINITY
  const newestFirst = take?.end === 'newest'
  const pool = query.lane === 'backfill' ? deps.backfillPool : deps.pool
  const deadline = deps.clock.monotonicMs() + pool.deadlineMs
  const pages: Bars[] = []
  let left = wanted
  const now = toSeconds(deps.clock.utcMs())
  for (const range of readSteps(whole, query.series.resolution, take?.end, now)) {
    let rowsMax = Math.min(rowsPerPage, left + spareRows)
    for (;;) {
      const rows = await readPage(
        { table, symbol: nameOf(query.series), ...range, rowsMax, reader: query.reader },
        newestFirst,
        deadline,
        { ...deps, pool },
      )
      const isLast = rows.rows < rowsMax
      const edge = rows.lastTime
      if (!isLast) rows.dropLast()
      const page = rows.bars(left)
      if (barCount(page) > 0) pages.push(page)
      left -= barCount(page)
      if (isLast || left <= 0) break
      // The page contains only rows of one time: a larger page will contain all of them.
      rowsMax = barCount(page) === 0 ? rowsMax * 2 : Math.min(rowsPerPage, left + spareRows)
      if (newestFirst) range.to = edge
      else range.from = edge
    }
    if (left <= 0) break
  }
  return concatBars(newestFirst ? pages.toReversed() : pages)
}

interface Page {
  readonly table: string
  readonly symbol: string
  readonly from: number
  readonly to: number
  readonly rowsMax: number
  readonly reader: Reader | undefined
}

async function readPage(
  page: Page,
  newestFirst: boolean,
  deadline: number,
  deps: ReadDeps,
): Promise<BarPage> {
  const { table, symbol, from, to, rowsMax, reader } = page
  const statement = {
    sql: barStatement(table, newestFirst ? 'DESC' : 'ASC'),
    parameterSets: [[symbol, microsOf(from), microsOf(to), String(rowsMax)]],
  }
  let rows = new BarPage(0, 'ascending')
  const leftMs = Math.max(1, deadline - deps.clock.monotonicMs())
  await deps.pool.read(
    statement,
    () => {
      rows = new BarPage(rowsMax, newestFirst ? 'descending' : 'ascending')
      return (view, start, end) => rows.take(view, start, end)
    },
    { deadlineMs: leftMs, reader, isShort: isShortRead(rowsMax) },
  )
  if (rows.broken > 0) deps.broken.inc(rows.broken)
  return rows
}
