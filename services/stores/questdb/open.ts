import { ForeignServer, Unavailable } from '../../core/failure.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Counter } from '../../platform/metrics.ts'
import { patientReadDeadlineMs, readDeadlineMs, readsWaitingMax } from '../../platform/read-turns.ts'
import type { StoreIdentity } from '../../ports/store-identity.ts'
import type { Stores } from '../../ports/stores.ts'
import { questdbBars } from './bars.ts'
import { type Administration, administration, type ServerQueries } from './exec.ts'
import { awaitLayout, migrate, requireLayout } from './layout/migrate.ts'
import { applyRetention, type TimedFeed } from './layout/retention.ts'
import { TableList } from './layout/table-list.ts'
import { TableRecords } from './layout/table-records.ts'
import { TableNames } from './layout/tables.ts'
import type { QuestdbOptions } from './options.ts'
import { ServerConnectionCheck } from './pg/connection-check.ts'
import { backfillConnectionsOf, isWriter, readConnectionsOf, type StoreUser } from './pg/connection-counts.ts'
import { PgPool } from './pg/pool.ts'
import { pgQueries } from './pg/queries.ts'
import { forgetOlder, questdbRegistry, RegistryLog } from './registry.ts'
import { Identity, type IdentityDeps } from './server/identity.ts'
import { serverJudge } from './server/judge.ts'
import { exportMemoryMaps } from './server/memory-maps.ts'
import { questdbTables } from './store-tables.ts'
import { questdbUsageDays } from './usage-days.ts'
import { questdbWindows } from './windows.ts'
import { senderOptions } from './write/sender.ts'
import { SuspendedTables } from './write/suspended-tables.ts'
import { Visibility } from './write/visibility.ts'
import { Writer } from './write/writer.ts'

/** The data that must never be lost. */
export type QuestdbStores = Required<
  Pick<Stores, 'bars' | 'windows' | 'registry' | 'usageDays' | 'tables' | 'close'>
> & { readonly identity: StoreIdentity }

/** Progress of writes has a connection of its own: acknowledgements must not wait behind reads. */
const progressConnections = { connections: 1, waiting: 16, lateIsLost: true }

export interface PreparedQuestdb {
  /** Each port fails as `Unavailable` while the server is unavailable. */
  readonly stores: QuestdbStores
  /**
   * Creates missing tables; two processes may do that at the same time. Rejects with `WrongServer` when the server is too old
   * or has tables of a newer fxd. Any other error can be retried.
   */
  readonly connect: () => Promise<void>
}

/** Sends no request to the server yet. */
export async function prepareQuestdbStores(options: QuestdbOptions): Promise<PreparedQuestdb> {
  const { clock, user = 'all' } = options
  const migrates = isWriter(user)
  const names = new TableNames(options.prefix)
  const admin = administration(options)
  const sender = await senderOptions(options)
  // A process that only reads sends its questions about the server over the port of its reads.
  const reading = migrates ? undefined : pgQueries(options)
  const queries = reading ?? admin
  const judge = serverJudge(options, queries)
  const records = new TableRecords({ names, queries, clock, log: options.log })
  const server = { options, names, admin, queries, migrates, judge, records }
  const changed = (): void => pools.renew()
  const identity = identityOf(server, { replaced: () => log.forget(), changed })
  const check = connectionCheckOf(server, identity, () => forgetOlder(log, { ...registryDeps, queries }))
  const pools = openPools(options, user, check)
  const { pool, backfillPool, progress } = pools
  const visibility = new Visibility({ clock, names, pool: progress, records })
  const suspended = new SuspendedTables(options, admin)
  // Only processes that may create tables resume them; the others only report them.
  if (migrates) visibility.onSuspended = (tables) => suspended.seen(tables)
  const tableGone = (): void => refreshSoon()
  const writer = new Writer({ options, sender, check, visibility, tableGone })
  const feedsChanged = (): Promise<void> => changeRetention(server, log.timedFeeds())
  const base = { names, records, pool, writer, sender, clock }
  const registryDeps = { ...base, table: names.registry, patientPool: backfillPool, feedsChanged }
  const log = new RegistryLog(registryDeps)
  // It may be an older copy now, which lacks rows that this process has read.
  records.onRepaired.add((tables) => {
    if (tables.includes(names.registry)) log.forget()
    writer.wake()
  })
  const registry = questdbRegistry(log, registryDeps)
  const timedFeed = async (feed: FeedKey): Promise<TimedFeed | undefined> => {
    await log.follow()
    return log.timedFeed(feed)
  }
  const tableList = new TableList({ names, records, pool, admin, clock, timedFeed })
  const refreshSoon = (): void =>
    void Promise.all([tableList.refresh(), records.load()]).catch(() => undefined)
  const broken = readingMetrics(options, [pool, backfillPool], visibility, records, writer)
  const stopCounting = migrates ? exportMemoryMaps(options, admin) : undefined
  const shared = { ...base, tableList, backfillPool, visibility, admin, queries, broken }
  const windows = questdbWindows(shared)
  return {
    stores: {
      bars: questdbBars({ ...shared, log: options.log, timedFeed: (feed) => log.timedFeed(feed) }),
      windows,
      registry,
      usageDays: questdbUsageDays({ ...shared, table: names.usageDays }),
      tables: questdbTables({ ...shared, windows, log }),
      identity,
      async close() {
        identity.close()
        stopCounting?.()
        writer.close()
        visibility.close()
        pools.close()
        reading?.close()
      },
    },
    async connect() {
      await judge()
      await identity.check(() => makeLayout(server)).catch(asWaiting)
      await records.load()
      check.open()
      identity.open()
      await log.follow(backfillPool)
      if (migrates) await feedsChanged()
    },
  }
}

/** Others may restore the known store or accept this one, so the start waits. */
function asWaiting(cause: unknown): never {
  throw cause instanceof ForeignServer ? new Unavailable('store', cause) : cause
}

interface Server {
  readonly options: QuestdbOptions
  readonly names: TableNames
  readonly admin: Administration
  readonly queries: ServerQueries
  /** Whether this process may create tables. */
  readonly migrates: boolean
  readonly judge: () => Promise<void>
  readonly records: TableRecords
}

async function makeLayout(server: Server): Promise<void> {
  const { options, names, admin, queries, migrates, records } = server
  if (!migrates) return awaitLayout(names, queries)
  const making = { names, admin, clock: options.clock }
  await migrate(making)
  await records.recordNew(making)
}

const identityOf = (server: Server, told: Pick<IdentityDeps, 'replaced' | 'changed'>): Identity => {
  const { options, names, admin, queries, migrates } = server
  const writing = migrates ? { admin, makeTables: () => makeLayout(server) } : undefined
  return new Identity({ ...options, names, queries, writing, ...told })
}

const changeRetention = (
  { options: { clock, log }, names, admin }: Server,
  feeds: readonly TimedFeed[],
): Promise<void> =>
  applyRetention(feeds, { names, admin, clock, log }).catch((cause: unknown) =>
    log.error(
      { err: cause },
      'failed to change the retention of the tables; retrying at the next change of a feed or start',
    ),
  )

const connectionCheckOf = (
  { options, names, queries, judge, records }: Server,
  identity: Identity,
  compareRegistry: () => Promise<void>,
): ServerConnectionCheck =>
  new ServerConnectionCheck(options, async () => {
    await judge()
    await identity.check(() => requireLayout(names, queries))
    await records.load()
    await compareRegistry()
  })

function openPools(options: QuestdbOptions, user: StoreUser, check: ServerConnectionCheck) {
  const reads = {
    connections: readConnectionsOf(user),
    waiting: readsWaitingMax,
    // Ingest answers no client: only a collector's session waits for its reads.
    deadlineMs: user === 'ingest' ? patientReadDeadlineMs : readDeadlineMs,
  }
  // Comparing a backlog of history must not delay the reads of clients.
  const backfill = { connections: backfillConnectionsOf(user), waiting: readsWaitingMax }
  const pools = {
    pool: new PgPool(options, reads, check),
    backfillPool: new PgPool(options, { ...backfill, deadlineMs: patientReadDeadlineMs }, check),
    progress: new PgPool(options, progressConnections, check),
  }
  return {
    ...pools,
    /** Checks the server again before the next read or write. */
    renew() {
      check.lost()
      for (const each of Object.values(pools)) each.renew()
    },
    close() {
      for (const each of Object.values(pools)) each.close()
    },
  }
}

/** Returns the counter of rows that are left out of answers. */
function readingMetrics(
  { metrics }: QuestdbOptions,
  pools: readonly PgPool[],
  visibility: Visibility,
  records: TableRecords,
  writer: Writer,
): Counter {
  const sum = (of: (pool: PgPool) => number): number => pools.reduce((total, pool) => total + of(pool), 0)
  metrics.gauge(
    'fxd_questdb_suspended_tables',
    'Suspended tables: they accept rows and do not show them.',
    [],
    (gauge) => gauge.set(visibility.suspended.size),
  )
  metrics.gauge(
    'fxd_questdb_tables_out_of_order',
    'Tables that are missing or were replaced, or that reject rows: their writes wait.',
    [],
    (gauge) => gauge.set(records.outOfOrder.size + writer.rejecting),
  )
  metrics.gauge('fxd_questdb_connections', 'Connections for reading.', [], (gauge) =>
    gauge.set(sum(({ connections }) => connections)),
  )
  metrics.gauge('fxd_questdb_reads_waiting', 'Reads that wait for a connection.', [], (gauge) =>
    gauge.set(sum(({ waiting }) => waiting)),
  )
  metrics.counter(
    'fxd_questdb_reads_refused_total',
    'Reads rejected while they waited for a connection: too many waited, or for too long.',
    [],
    (counter) => counter.inc(sum(({ refused }) => refused)),
  )
  return metrics.counter('fxd_questdb_broken_rows_total', 'Rows skipped because a value is missing.')
}
