import { barCount } from '../../core/bars/bar.ts'
import type { SeriesBars } from '../../core/bars/series.ts'
import { Unavailable } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { within } from '../../platform/within.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EmptyingDeps, purgeTables } from './empty-tables.ts'
import type { ServerQueries } from './exec.ts'
import { refuseOtherClock, type TimedFeed } from './layout/retention.ts'
import type { TableList } from './layout/table-list.ts'
import type { ReadDeps } from './read/read-bars.ts'
import { readBars } from './read/read-bars.ts'
import { bounds, lastTimes } from './read/series-times.ts'
import { encodeBars, refuseUnfit, type TableBars } from './write/encode-bars.ts'
import type { Visibility } from './write/visibility.ts'
import type { Writer } from './write/writer.ts'

/**
 * Deadline for creating the tables of a write. When many feeds begin at once, their tables are created one
 * after another. Tables that exist at the deadline stay.
 */
const makingDeadlineMs = 60_000
/**
 * Deadline of a purge of bars. The caller has one minute for it, the wait for the lease and two purges of the
 * windows.
 */
const purgeDeadlineMs = 30_000

export interface BarDeps extends ReadDeps, EmptyingDeps {
  readonly writer: Writer
  readonly visibility: Visibility
  readonly queries: ServerQueries
  /** The feed with its clock offset, as of the last registry that this process read. */
  readonly timedFeed: (feed: FeedKey) => TimedFeed | undefined
}

export function questdbBars(deps: BarDeps): BarStore {
  const { tableList, writer, visibility, queries, clock } = deps
  const nextTaken = ascendingMicros(clock)
  return {
    isPartitioned: true,
    async write(batch, lane, { onCommitted } = {}) {
      const held = batch.filter(({ bars }) => barCount(bars) > 0)
      held.forEach(refuseUnfit)
      for (const [feed, list] of Map.groupBy(held, ({ series }) => series.feed)) {
        const timed = deps.timedFeed(feed)
        for (const { series, bars } of list) refuseOtherClock(series, bars, timed, clock)
      }
      const placed = await within(clock, makingDeadlineMs, 'making tables', place(held, tableList)).catch(
        (cause: unknown) => {
          throw cause instanceof Unavailable ? cause : new Unavailable('store', cause)
        },
      )
      await writer.write(encodeBars(placed, nextTaken), { lane, onCommitted })
      return []
    },
    waitingBytes: () => new Map(),
    read: (query) => readBars(query, deps),
    lastTimes: (feed, as = {}) => lastTimes(feed, as, deps),
    bounds: (series, spans, reader) => bounds(series, spans, reader, deps),
    async purge(feed) {
      const tables = (await tableList.barTablesOf(feed)).map(({ table }) => table)
      await purgeTables(feed, tables, purgeDeadlineMs, deps)
      await tableList.refresh()
    },
    async ping() {
      await queries.ping()
      writer.throwIfFailing()
      await visibility.check()
    },
  }
}

async function place(batch: readonly SeriesBars[], tableList: TableList): Promise<TableBars[]> {
  const placed: TableBars[] = []
  for (const { series, bars } of batch) {
    // Without an await for a known table: a minute has thousands of series.
    const table = tableList.knownTableOf(series) ?? (await tableList.needTableOf(series))
    placed.push({ series, bars, table })
  }
  return placed
}

/** Returns the UTC time in microseconds, each number only once. */
function ascendingMicros(clock: Clock): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, clock.utcMs() * 1_000)
    return last
  }
}
