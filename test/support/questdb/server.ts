import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-ports.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { questdbParts } from './parts.ts'

const startDeadlineMs = 150_000
const execDeadlineMs = 60_000
const pingDeadlineMs = 2_000
const name = 'QuestDB'
const loopback = '127.0.0.1'
/** Compiling statements alone takes some 150 MB; with less than this a hundred tables end in "GC overhead limit exceeded". */
const heap = '1g'

export interface QuestdbServer {
  readonly name: string
  readonly http: Place
  readonly pg: Place
  /** `/status` and `/metrics`. */
  readonly ops: Place
  readonly folder: string
  readonly pid: number
  /** Resolves when its present life ends, with the exit code or the signal. */
  readonly ended: Promise<number | string>
  /** Ends the process as a crash would. */
  kill(): Promise<void>
  /** Starts the same folder on the same ports again, with further settings if given. */
  start(more?: Settings): Promise<void>
  /** Resolves once it stands still in the middle of whatever it does, with its connections open. */
  freeze(): Promise<void>
  thaw(): void
  /** One statement; rejects with the server's own words. */
  exec(sql: string): Promise<readonly (readonly unknown[])[]>
  /** Ends the process and removes its folder. */
  stop(): Promise<void>
}

type Settings = Readonly<Record<string, string>>

/** Small pages: a test makes many tables and few rows. */
const smallPages: Settings = {
  QDB_CAIRO_O3_COLUMN_MEMORY_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_APPEND_PAGE_SIZE: '256K',
  QDB_CAIRO_SYSTEM_WRITER_DATA_APPEND_PAGE_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_INDEX_KEY_APPEND_PAGE_SIZE: '128K',
  QDB_CAIRO_WRITER_DATA_INDEX_VALUE_APPEND_PAGE_SIZE: '128K',
}

const smallMachine: Settings = {
  QDB_LINE_TCP_ENABLED: 'false',
  QDB_LINE_UDP_ENABLED: 'false',
  QDB_TELEMETRY_ENABLED: 'false',
  QDB_METRICS_ENABLED: 'true',
  QDB_LINE_AUTO_CREATE_NEW_TABLES: 'false',
  QDB_LINE_AUTO_CREATE_NEW_COLUMNS: 'false',
  QDB_SHARED_WORKER_COUNT: '2',
  QDB_HTTP_MIN_WORKER_COUNT: '1',
  QDB_HTTP_NET_CONNECTION_LIMIT: '256',
  // ALTER TABLE … SUSPEND WAL
  QDB_DEV_MODE_ENABLED: 'true',
  QDB_LOG_W_STDOUT_LEVEL: 'ERROR,CRITICAL',
}

export interface QuestdbServerOptions {
  readonly settings?: Settings
  readonly folder?: string
  /** Heap, as java wants it. */
  readonly memory?: string
  /** Half the work at a start and slower ever after: for servers of seconds, not for measuring. */
  readonly startsQuickly?: boolean
  /** Where it listens; loopback when left out. */
  readonly host?: string
}

interface Place {
  readonly host: string
  readonly port: number
}

/** A real QuestDB of its own, on free ports with a temporary folder; resolves once it answers. */
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
    '-p',
    parts.jar,
    '-m',
    'io.questdb/io.questdb.ServerMain',
  ]
  const process = new ServerProcess({
    name,
    command: parts.java,
    args: [...args, '-d', folder],
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
      // What it would still write is about to be removed.
      await process.kill()
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Both of its sides. */
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

/** Who may ask over HTTP, where not everybody may. */
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

/** Over a connection of its own: one that is kept may be of a server that was killed since. */
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
