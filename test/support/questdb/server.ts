import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-ports.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { classArchiveFlag, questdbModule } from './class-archive.ts'
import { questdbParts } from './parts.ts'

const startDeadlineMs = 150_000
const execDeadlineMs = 60_000
const pingDeadlineMs = 2_000
const name = 'QuestDB'
const loopback = '127.0.0.1'
/**
 * Maximum heap. The compilers alone use some 150 MB; with less heap a hundred tables fail with "GC overhead limit
 * exceeded".
 */
const heap = '1g'

export interface QuestdbServer {
  readonly name: string
  readonly http: Place
  readonly pg: Place
  /** Serves `/status` and `/metrics`. */
  readonly ops: Place
  readonly folder: string
  readonly pid: number
  /** Resolves at the end of the present process with its exit code or signal. */
  readonly ended: Promise<number | string>
  /** Ends the process like a crash, with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again with the same folder and ports, and with additional settings. */
  start(more?: Settings): Promise<void>
  /** Stops the process with SIGSTOP; its connections stay open. Resolves once it is frozen. */
  freeze(): Promise<void>
  thaw(): void
  /** Runs one statement and resolves with its rows; rejects with the error text of the server. */
  exec(sql: string): Promise<readonly (readonly unknown[])[]>
  /** Ends the process and removes its folder. */
  stop(): Promise<void>
}

type Settings = Readonly<Record<string, string>>

/** Small pages, because a test makes many tables with few rows. */
const smallPages: Settings = {
  QDB_CAIRO_O3_COLUMN_MEMORY_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE: '256K',
  QDB_CAIRO_SYSTEM_WRITER_DATA_APPEND_PAGE_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_INDEX_KEY_APPEND_PAGE_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_INDEX_VALUE_APPEND_PAGE_SIZE: '128K',
}

/** Idle readers of tables keep few files mapped, as in the chart. */
const fewMaps: Settings = { QDB_CAIRO_INACTIVE_READER_MAX_OPEN_PARTITIONS: '64' }

/** Idle workers sleep sooner, as in the chart: by default each spins for thousands of turns after its last task. */
const sleepSoon: Settings = {
  QDB_SHARED_WORKER_NAP_THRESHOLD: '100',
  QDB_SHARED_WORKER_SLEEP_THRESHOLD: '1000',
  QDB_WAL_APPLY_WORKER_NAP_THRESHOLD: '100',
}

const smallMachine: Settings = {
  QDB_LINE_TCP_ENABLED: 'false',
  QDB_LINE_UDP_ENABLED: 'false',
  QDB_TELEMETRY_ENABLED: 'false',
  QDB_METRICS_ENABLED: 'true',
  QDB_LINE_AUTO_CREATE_NEW_TABLES: 'false',
  QDB_LINE_AUTO_CREATE_NEW_COLUMNS: 'false',
  QDB_SHARED_WORKER_COUNT: '2',
  ...sleepSoon,
  ...fewMaps,
  QDB_HTTP_MIN_WORKER_COUNT: '1',
  QDB_HTTP_NET_CONNECTION_LIMIT: '256',
  // Allows ALTER TABLE … SUSPEND WAL.
  QDB_DEV_MODE_ENABLED: 'true',
  QDB_LOG_W_STDOUT_LEVEL: 'ERROR,CRITICAL',
}

export interface QuestdbServerOptions {
  readonly settings?: Settings
  readonly folder?: string
  /** Maximum heap in the format of `-Xmx`. */
  readonly memory?: string
  /** Halves the work of a start, but the server is slower afterwards: for short tests, not for benchmarks. */
  readonly startsQuickly?: boolean
  /** Address to listen on; default: loopback. */
  readonly host?: string
  /** Value for nice(1): above 0 the server gets less of a processor that other processes need, too. Default: 0. */
  readonly niceness?: number
}

interface Place {
  readonly host: string
  readonly port: number
}

/** Starts a QuestDB on free ports with a temporary folder; resolves once it answers. */
export async function startQuestdb(options: QuestdbServerOptions = {}): Promise<QuestdbServer> {
  const parts = questdbParts()
  const [httpPort = 0, opsPort = 0, pgPort = 0] = await freePorts(3)
  const { host = loopback } = options
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'fxd-questdb-'))
  const settings: Settings = { ...smallMachine, ...smallPages, ...options.settings }
  const ports: Settings = {
    QDB_HTTP_BIND_TO: `${host}:${httpPort}`,
    QDB_HTTP_MIN_NET_BIND_TO: `${host}:${opsPort}`,
    QDB_PG_NET_BIND_TO: `${host}:${pgPort}`,
  }
  const memory = options.memory ?? heap
  const args = [
    `-Xmx${memory}`,
    '-XX:+UseParallelGC',
    ...(options.startsQuickly ? ['-XX:TieredStopAtLevel=1'] : []),
    classArchiveFlag(parts),
    ...questdbModule(parts.jar),
  ]
  const process = new ServerProcess({
    name,
    command: 'nice',
    args: ['-n', String(options.niceness ?? 0), parts.java, ...args, '-d', folder],
    env: { ...settings, ...ports },
    answers: () => answers({ host, port: httpPort }, { host, port: pgPort }),
    startDeadlineMs,
  })
  await process.start()
  return {
    name,
    http: { host, port: httpPort },
    pg: { host, port: pgPort },
    ops: { host, port: opsPort },
    folder,
    get pid() {
      return process.pid
    },
    get ended() {
      return process.ended
    },
    kill: () => process.kill(),
    start: (more) => process.start(more),
    freeze: () => process.freeze(),
    thaw: () => process.thaw(),
    exec: (sql) => execute({ host, port: httpPort, ...userOf(settings) }, sql),
    async stop() {
      // A clean stop is not needed, because the folder is removed.
      await process.kill()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether HTTP and Postgres both accept connections. */
const answers = async (web: Place, postgres: Place): Promise<boolean> =>
  (await get(web, '/ping', pingDeadlineMs).catch(() => undefined))?.status === 204 &&
  (await accepts(postgres))

const accepts = (at: Place): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(at)
    socket.on('error', () => resolve(false))
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })

/** User and password of HTTP, if the settings require them. */
const userOf = ({ QDB_HTTP_USER: user, QDB_HTTP_PASSWORD: password }: Settings): { auth?: string } =>
  user === undefined ? {} : { auth: `${user}:${password}` }

async function execute(
  at: Place & { readonly auth?: string },
  sql: string,
): Promise<readonly (readonly unknown[])[]> {
  const { text } = await get(at, `/exec?query=${encodeURIComponent(sql)}`, execDeadlineMs)
  const body = JSON.parse(text) as { error?: string; dataset?: readonly (readonly unknown[])[] }
  if (body.error !== undefined) throw new Error(`${body.error}: ${sql}`)
  return body.dataset ?? []
}

/** Sends a GET over a new connection, since a kept connection may belong to a killed server. */
const get = (
  at: Place & { readonly auth?: string },
  path: string,
  deadlineMs: number,
): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(deadlineMs)
    const request = http.get({ ...at, path, agent: false, signal }, (response) => {
      response
        .toArray()
        .then(
          (pieces) =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces as Buffer[]).toString() }),
          reject,
        )
    })
    request.on('error', reject)
  })
