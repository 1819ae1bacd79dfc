import { barCount } from '../../core/bars/bar.ts'
import type { SeriesBars } from '../../core/bars/series.ts'
import { Unavailable } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import { untilDone } from '../write-queue/until-done.ts'
import { type EmptyingDeps, purgeTables } from './empty-tables.ts'
import type { ServerQueries } from './exec.ts'
import { refuseOtherClock, type TimedFeed } from './layout/retention.ts'
import type { TableList } from './layout/table-list.ts'
import { unavailable } from './pg/pool.ts'
import { type ReadDeps, readBars } from './read/read-bars.ts'
import { bounds, lastTimes } from './read/series-times.ts'
import type { TableBars } from './write/bar-rows.ts'
import { encodeBars, refuseUnfit } from './write/encode-bars.ts'
import type { Visibility } from './write/visibility.ts'
import type { Writer } from './write/writer.ts'

/** Deadline of a purge of bars. The caller has one minute for it, the wait for the lease and two purges of the windows. */
const purgeDeadlineMs = 30_000

interface BarDeps extends ReadDeps, EmptyingDeps {
  readonly log: Log
  readonly writer: Writer
  readonly visibility: Visibility
  readonly queries: ServerQueries
  /** The feed with its clock offset, as of the last registry that this process read. */
  readonly timedFeed: (feed: FeedKey) => TimedFeed | undefined
}

export function questdbBars(deps: BarDeps): BarStore {
  const { tableList, writer, visibility, queries, clock } = deps
  const nextTaken = ascendingMicros(clock)
  const making = new OutageLog({ log: deps.log, clock })
  const onFailed = (cause: unknown): void =>
    making.failed({ text: 'making tables of bars failed; retrying', cause })
  return {
    isPartitioned: true,
    async write(batch, lane, { onCommitted, signal } = {}) {
      const held = batch.filter(({ bars }) => barCount(bars) > 0)
      held.forEach(refuseUnfit)
      for (const [feed, list] of Map.groupBy(held, ({ series }) => series.feed)) {
        const timed = deps.timedFeed(feed)
        for (const { series, bars } of list) refuseOtherClock(series, bars, timed, clock)
      }
      const place = (): Promise<readonly TableBars[]> =>
        placed(held, tableList).catch((cause: unknown) => Promise.reject(unavailable(cause)))
      const waiting = { clock, signal, isClosed: () => writer.isClosed, onFailed }
      const ofTables = await untilDone(place, waiting)
      making.worked('tables of bars are made again')
      return writer.write(encodeBars(ofTables, nextTaken), { lane, onCommitted, signal })
    },
    waitingBytes: () => writer.waitingBytes(),
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
      if (making.isOut) throw new Unavailable('store', new Error('tables of bars cannot be made'))
      await visibility.check()
    },
  }
}

async function placed(batch: readonly SeriesBars[], tableList: TableList): Promise<TableBars[]> {
  const found: TableBars[] = []
  for (const { series, bars } of batch) {
    // Without an await for a known table: a minute has thousands of series.
    const table = tableList.knownTableOf(series) ?? (await tableList.needTableOf(series))
    found.push({ series, bars, table })
  }
  return found
}

/** Returns the UTC time in microseconds, each number only once. */
function ascendingMicros(clock: Clock): () => number {
  let last = 0
  return () => {
    last = Math.max(last + 1, clock.utcMs() * 1_000)
    return last
  }
}
