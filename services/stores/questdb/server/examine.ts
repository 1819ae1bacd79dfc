import { Unavailable } from '../../../core/failure.ts'
import { examineAudit } from '../../../doctor/examine-audit.ts'
import { examineClocks } from '../../../doctor/examine-clocks.ts'
import { type Finding, passed, problem, warning } from '../../../doctor/finding.ts'
import { type Administration, administration } from '../exec.ts'
import { listTables } from '../layout/make-table.ts'
import { schemaVersion, storedVersion } from '../layout/migrate.ts'
import { isRetentionPending, type TimedFeed } from '../layout/retention.ts'
import { TableRecords } from '../layout/table-records.ts'
import { TableNames } from '../layout/tables.ts'
import type { QuestdbOptions } from '../options.ts'
import { connectionsOf, type StoreUser, storeUsers } from '../pg/connection-counts.ts'
import { PgPool } from '../pg/pool.ts'
import { RegistryLog } from '../registry.ts'
import { examineRecords } from './examine-records.ts'
import { examineTables } from './examine-tables.ts'
import { serverFacts, versionMin } from './facts.ts'
import { findIdentity, refusalCure, refusalOf, refusalTexts } from './identity.ts'
import { syncCure } from './judge.ts'
import { newestBars } from './newest-bars.ts'
import { type StoredBarsDeps, storedBarsOf } from './stored-bars.ts'

type Examined = Omit<QuestdbOptions, 'metrics' | 'known' | 'readKnown'> & {
  /** Reads the identity of the store as known outside of it. */
  readonly readKnown: () => Promise<string | undefined>
  /** Whether `readKnown` asks Redis, which alone tells whether a server without tables is new. */
  readonly asksRedis: boolean
  /** Whether to compare the acknowledged windows with the stored bars, which reads all bars. */
  readonly audits: boolean
  /** How many processes of each kind use the server, those that a rollout adds included. */
  readonly pods: PodCounts
}

export type PodCounts = Readonly<Partial<Record<StoreUser, number>>>
const doctorConnections = 1

/** Deadline of a read. An operator waits, often while the machine is busy: the 2 s of a request would be too short. */
const readDeadlineMs = 30_000
/** Minimum HTTP workers. A write occupies its worker while the disk works, and one process writes over four connections. */
const workersMin = 4

const namedCure = 'remove the cause that the message names'

/** Examines a QuestDB and changes nothing. A failed examination is a finding, so this never rejects. */
export async function examineQuestdb(options: Examined): Promise<readonly Finding[]> {
  const names = new TableNames(options.prefix)
  const admin = administration(options)
  const pool = new PgPool(options, { connections: 1, waiting: 1, deadlineMs: readDeadlineMs })
  try {
    const http = await examined('http', httpCure(options), () => examineServer(admin, options.pods))
    if (http.some(({ state }) => state === 'wrong')) return http
    const pg = await examined('postgres', pgCure(options), () => examineReading(pool))
    const identity = await examineIdentity(names, admin, options.readKnown)
    if (identity.some(({ state }) => state === 'wrong')) return [...http, ...pg, ...identity]
    const schema = await examined('schema', namedCure, () =>
      examineSchema(names, admin, options.asksRedis && identity.length === 0),
    )
    const records = new TableRecords({ names, queries: admin, clock: options.clock, log: options.log })
    const tables = await examined('tables', namedCure, async () => [
      ...(await examineRecords(records, names)),
      ...(await examineTables(names, admin)),
    ])
    if ([...pg, ...schema].some(({ state }) => state !== 'ok'))
      return [...http, ...pg, ...identity, ...schema, ...tables]
    const log = new RegistryLog({ table: names.registry, records, pool })
    const clocks = await examined('clocks', namedCure, async () => {
      await log.follow()
      const feeds = log.shownFeeds()
      const newest = await newestBars(feeds, names, admin)
      return [...examineClocks(newest, options.clock.utcMs()), ...pendingRetention(feeds)]
    })
    const audit = options.audits
      ? await auditAll({ names, admin, clock: options.clock, pool, log, records })
      : []
    return [...http, ...pg, ...identity, ...schema, ...tables, ...clocks, ...audit]
  } finally {
    pool.close()
  }
}

async function examined(
  about: string,
  cure: string,
  examine: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examine()
  } catch (cause) {
    return [problem(about, reasonOf(cause), cure)]
  }
}

function reasonOf(cause: unknown): string {
  const inner = cause instanceof Unavailable && cause.cause instanceof Error ? cause.cause : cause
  if (!(inner instanceof Error)) return String(inner)
  return inner.cause instanceof Error ? `${inner.message}: ${inner.cause.message}` : inner.message
}

const httpCure = ({ http }: Examined): string =>
  `start QuestDB, or set FXD_QUESTDB_HTTP (now ${http.host}:${http.port}), FXD_QUESTDB_USER and FXD_QUESTDB_PASSWORD`

const pgCure = ({ pg }: Examined): string =>
  `set FXD_QUESTDB_PG (now ${pg.host}:${pg.port}), FXD_QUESTDB_USER and FXD_QUESTDB_PASSWORD`

async function examineServer(admin: Administration, pods: PodCounts): Promise<readonly Finding[]> {
  const { version, isTooOld, commitMode, isSynced, makesTables, connectionsMax, httpWorkers } =
    await serverFacts(admin)
  return [
    isTooOld
      ? problem('version', `QuestDB ${version}`, `install QuestDB ${versionMin} or a newer one`)
      : passed('version', `QuestDB ${version ?? 'of an unknown version'}`),
    isSynced
      ? passed('commit mode', commitMode)
      : warning('commit mode', `${commitMode}: a loss of power may lose acknowledged bars`, syncCure),
    makesTables
      ? warning(
          'automatic tables',
          'QuestDB creates missing tables itself, without index and deduplication',
          'set QDB_LINE_AUTO_CREATE_NEW_TABLES=false and QDB_LINE_AUTO_CREATE_NEW_COLUMNS=false and restart QuestDB',
        )
      : passed('automatic tables', 'none'),
    ...examineConnections(connectionsMax, pods),
    ...examineWorkers(httpWorkers),
  ]
}

/** A connection above the server's limit waits without an error until another one ends. */
function examineConnections(limit: number | undefined, pods: PodCounts): readonly Finding[] {
  if (limit === undefined) return []
  const users = storeUsers.filter((user) => (pods[user] ?? 0) > 0)
  const needed = users.reduce((sum, user) => sum + (pods[user] ?? 0) * connectionsOf(user), doctorConnections)
  const each = storeUsers.map((user) => `${user} ${connectionsOf(user)}`).join(', ')
  const found =
    users.length === 0
      ? `${limit} for reading; each process uses up to: ${each}`
      : `${limit} for reading; these processes and a doctor use up to ${needed}`
  return limit >= Math.max(needed, connectionsOf('all'))
    ? [passed('connections', found)]
    : [warning('connections', found, 'raise QDB_PG_NET_CONNECTION_LIMIT and restart QuestDB')]
}

function examineWorkers(count: number | undefined): readonly Finding[] {
  if (count === undefined) return []
  return count >= workersMin
    ? [passed('workers', `${count} for HTTP`)]
    : [
        warning(
          'workers',
          `${count} for HTTP: writes wait for a free worker, because a write occupies one while the disk works`,
          `set QDB_SHARED_WORKER_COUNT=${workersMin} or more and restart QuestDB`,
        ),
      ]
}

async function examineReading(pool: PgPool): Promise<readonly Finding[]> {
  await pool.read({ sql: 'SELECT 1', parameterSets: [[]] }, () => () => undefined)
  return [passed('postgres', 'answers')]
}

async function examineIdentity(
  names: TableNames,
  admin: Administration,
  readKnown: Examined['readKnown'],
): Promise<readonly Finding[]> {
  try {
    const [known, found] = [await readKnown(), await findIdentity(names, admin)]
    const refusal = refusalOf(known, found)
    if (refusal) return [problem('identity', refusalTexts[refusal], refusalCure)]
    return known === undefined ? [] : [passed('identity', `${known}, as known outside of QuestDB`)]
  } catch (cause) {
    const found = `unknown whether this is the known store: ${reasonOf(cause)}`
    return [warning('identity', found, 'start Redis, or set FXD_REDIS as ingest has it')]
  }
}

async function examineSchema(
  names: TableNames,
  admin: Administration,
  isNew: boolean,
): Promise<readonly Finding[]> {
  if (!(await listTables(admin)).includes(names.schema))
    return [
      isNew
        ? warning('schema', `there is no table ${names.schema}`, 'start fxd once: it creates its tables')
        : warning(
            'schema',
            `there is no table ${names.schema}: a new server, or one that lost its data`,
            'set FXD_REDIS as ingest has it, and look again before you start anything',
          ),
    ]
  const found = await storedVersion(names, admin)
  if (found === schemaVersion) return [passed('schema', `version ${found}`)]
  return found > schemaVersion
    ? [problem('schema', `version ${found}; this fxd knows ${schemaVersion}`, 'start the newer fxd')]
    : [warning('schema', `version ${found} of ${schemaVersion}`, 'start fxd once: it updates the tables')]
}

function pendingRetention(feeds: readonly TimedFeed[]): readonly Finding[] {
  return feeds
    .filter(isRetentionPending)
    .map(({ definition: { key, name } }) =>
      warning(
        'retention',
        `${key} keeps all bars: its retention needs the feed clock, which is unknown`,
        `let its collector run until the clock is measured, or set spec.clock of the Feed ${name} to a fixed offset`,
      ),
    )
}

async function auditAll(deps: StoredBarsDeps): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const { definition: feed } of deps.log.shownFeeds())
    found.push(
      ...(await examined('audit', `${namedCure}; no bars of ${feed.key} were compared`, async () =>
        examineAudit(await storedBarsOf(feed, deps), deps.clock.utcMs()),
      )),
    )
  return found
}
