import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readManifests } from '../../../services/registry/manifests.ts'
import { freePorts } from '../free-ports.ts'
import { bareEnv } from '../processes/bare-env.ts'
import { type QuestdbServer, type QuestdbServerOptions, startQuestdb } from '../questdb/server.ts'
import { type RedisServer, startRedis } from '../redis/server.ts'
import { statusOf } from './answers.ts'
import { type Backend, loadBalancer, loadBalancerSource } from './load-balancer.ts'
import { Program } from './program.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const tokenBytes = 32
/** Maximum QuestDB connections: 21 for each of up to twelve processes. Above the default of 64 a connection would hang. */
const connectionsMax = '256'

export type Role = 'rest' | 'stream' | 'ingest' | 'collector'

export interface ClusterOptions {
  readonly rest: number
  readonly stream: number
  readonly ingest: number
  /** Folder of Feed manifests; each feed with a source other than Push gets a collector. */
  readonly feeds: string
  /** Folder of logs and data; default: a temporary folder, removed at the end. */
  readonly home?: string
  readonly questdb?: Pick<QuestdbServerOptions, 'settings' | 'niceness'>
  /** One log file for all roles; default: a file per process in `home`. */
  readonly log?: string
  /** Variables for every role. */
  readonly env?: Readonly<Record<string, string>>
  /** Variables for one process, by its name; read at each start. `undefined` removes a variable. */
  readonly podEnv?: (name: string) => Readonly<Record<string, string | undefined>>
  /** Folder of the code of one process, by its name; read at each start. Default: this checkout. */
  readonly code?: (name: string) => string
  readonly httpPort?: number
  readonly grpcPort?: number
  /** Puts a proxy between the roles and a store. */
  readonly around?: {
    readonly questdb?: (server: QuestdbServer) => Promise<Pick<QuestdbServer, 'http' | 'pg'>>
    readonly redis?: (server: RedisServer) => Promise<string>
  }
}

/**
 * QuestDB of `make cluster`. Its commits begin while the frames of a minute leave; on a machine with few processors
 * the frames go first.
 */
export const questdbOfCluster = {
  settings: { QDB_CAIRO_COMMIT_MODE: 'sync', QDB_SHARED_WORKER_COUNT: '4' },
  niceness: 5,
} as const

/** A process of a role, with its ports. */
export interface Pod extends Backend {
  readonly role: Role
  readonly program: Program
}

export interface Cluster {
  /** Port of the load balancer. */
  readonly httpPort: number
  readonly grpcPort: number
  readonly home: string
  /** File with the administration token. */
  readonly token: string
  readonly questdb: QuestdbServer
  readonly redis: RedisServer
  readonly balancer: Program
  readonly pods: readonly Pod[]
  /** The process with this name: `rest-1`, `stream-2`, `collector-brokera-zero`, … Throws if there is none. */
  pod(name: string): Pod
  /** Variables with which the command line of `fxd` administers this cluster. */
  readonly commandEnv: Readonly<Record<string, string>>
  /** Ends everything and removes temporary folders. Resolves with a sentence for each process that did not exit with 0. */
  stop(): Promise<readonly string[]>
}

/** Starts processes of all roles with QuestDB, Redis and a load balancer; resolves once all are ready. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'fxd-cluster-'))
  mkdirSync(home, { recursive: true })
  const stops: (() => Promise<unknown>)[] = []
  const end = async (): Promise<void> => {
    for (const stop of stops.reverse()) await stop()
    if (options.home === undefined) rmSync(home, { recursive: true, force: true })
  }
  try {
    const [questdb, redis] = await Promise.all([
      startQuestdb({
        ...options.questdb,
        settings: { QDB_PG_NET_CONNECTION_LIMIT: connectionsMax, ...options.questdb?.settings },
      }),
      startRedis(),
    ])
    stops.push(() => Promise.all([questdb.stop(), redis.stop()]))
    return await startPods(options, home, { questdb, redis, stops, end })
  } catch (cause) {
    await end()
    throw cause
  }
}

interface OpenStores {
  readonly questdb: QuestdbServer
  readonly redis: RedisServer
  readonly stops: (() => Promise<unknown>)[]
  readonly end: () => Promise<void>
}

async function startPods(options: ClusterOptions, home: string, openStores: OpenStores): Promise<Cluster> {
  const { questdb, redis, stops, end } = openStores
  const token = join(home, 'token')
  writeFileSync(token, `${randomBytes(tokenBytes).toString('hex')}\n`, { mode: 0o600 })
  const storeEnv = await storesOf(options, questdb, redis)
  const collected = (await readManifests(options.feeds)).definitions.filter(
    ({ source }) => source.type !== 'Push',
  )
  const names = [
    ...(['ingest', 'rest', 'stream'] as const).flatMap((role) =>
      Array.from({ length: options[role] }, (_, i) => ({ role, name: `${role}-${i + 1}`, feed: '' })),
    ),
    ...collected.map(({ key, name }) => ({
      role: 'collector' as const,
      name: `collector-${name}`,
      feed: key,
    })),
  ]
  const [freeHttp = 0, freeGrpc = 0, ...ports] = await freePorts(2 + 3 * names.length)
  const { httpPort = freeHttp, grpcPort = freeGrpc } = options
  const ingests = names.flatMap(({ role }, i) => (role === 'ingest' ? [`127.0.0.1:${ports[3 * i + 1]}`] : []))
  const pods = names.map(({ role, name, feed }, i): Pod => {
    const [http = 0, grpc = 0, opsPort = 0] = ports.slice(3 * i)
    const env = (): Readonly<Record<string, string | undefined>> => ({
      ...bareEnv(),
      FXD_HTTP_ADDR: `127.0.0.1:${http}`,
      FXD_GRPC_ADDR: `127.0.0.1:${grpc}`,
      FXD_OPS_ADDR: `127.0.0.1:${opsPort}`,
      FXD_DATA_DIR: join(home, name),
      FXD_TOKEN_FILE: token,
      FXD_TRUSTED_PROXIES: `${loadBalancerSource}/32`,
      ...(role === 'ingest' && { FXD_FEEDS: options.feeds }),
      ...(role === 'collector'
        ? { FXD_FEEDS: options.feeds, FXD_FEED: feed, FXD_INGEST: ingests.join(',') }
        : storeEnv),
      ...options.env,
      ...options.podEnv?.(name),
    })
    const program = new Program({
      name,
      command: join(repository, 'bin/node'),
      get args() {
        return [join(options.code?.(name) ?? repository, 'services/main.ts'), role]
      },
      get env() {
        return env()
      },
      log: options.log ?? join(home, `${name}.log`),
      isReady: async () => (await statusOf(opsPort, '/readyz')) === 200,
    })
    return { role, name, port: role === 'ingest' ? grpc : http, opsPort, program }
  })
  const of = (role: Role): Pod[] => pods.filter((each) => each.role === role)
  const failed: string[] = []
  const stopAll = async (programs: readonly Program[]): Promise<void> => {
    await Promise.all(
      programs.map(async (each) => {
        const wasAlive = each.isAlive
        // A frozen process would not get the signal.
        each.thaw()
        const outcome = await each.stop('SIGINT')
        if (wasAlive && outcome !== 0) failed.push(`${each.name} ended with ${outcome}`)
      }),
    )
  }
  // Ingest starts first, because it makes the tables.
  for (const group of [of('ingest'), [...of('rest'), ...of('stream')], of('collector')]) {
    stops.push(() => stopAll(group.map(({ program }) => program)))
    for (const { program } of group) program.begin()
    await Promise.all(group.map(({ program }) => program.ready()))
  }
  const balancer = loadBalancer({
    home,
    httpPort,
    grpcPort,
    rest: of('rest'),
    stream: of('stream'),
    ingest: of('ingest'),
  })
  stops.push(() => balancer.kill())
  await balancer.start()
  return {
    httpPort,
    grpcPort,
    home,
    token,
    questdb,
    redis,
    balancer,
    pods,
    pod(name) {
      const found = pods.find((each) => each.name === name)
      if (found) return found
      throw new Error(`There is no ${name}; there are ${pods.map((each) => each.name).join(', ')}.`)
    },
    commandEnv: { FXD_GRPC_ADDR: `127.0.0.1:${grpcPort}`, FXD_TOKEN_FILE: token },
    async stop() {
      await end()
      return failed
    },
  }
}

async function storesOf(
  { around }: ClusterOptions,
  server: QuestdbServer,
  redis: RedisServer,
): Promise<Record<string, string>> {
  const { http, pg } = (await around?.questdb?.(server)) ?? server
  return {
    FXD_STORE: 'questdb',
    FXD_QUESTDB_HTTP: `${http.host}:${http.port}`,
    FXD_QUESTDB_PG: `${pg.host}:${pg.port}`,
    FXD_REDIS: (await around?.redis?.(redis)) ?? redis.url,
  }
}
