import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Cluster, questdbOfCluster, startCluster } from '../../support/cluster/cluster.ts'
import { freePorts } from '../../support/free-ports.ts'
import { startService } from '../../support/processes/service-process.ts'
import type { QuestdbServer } from '../../support/questdb/server.ts'
import type { RedisServer } from '../../support/redis/server.ts'
import { StageFiles } from './stage-files.ts'

const clusterSockets = 500
const allSockets = 1_000
const repository = fileURLToPath(new URL('../../..', import.meta.url))

/** A service under test. */
export interface Subject {
  readonly name: string
  readonly sockets: number
  readonly httpPort: number
  readonly grpc: string
  readonly token: string
  readonly issuer: string
  /** Where history is read, by name. */
  readonly readers: Readonly<Record<string, number>>
  /** Processes by name. */
  readonly pids: () => Readonly<Record<string, number>>
  /** The process that takes the bars. */
  readonly ingest: string
  readonly opsOfIngest: string
  readonly opsOfStreams?: readonly string[]
  /** Goal of 99 of 100 frames, once a minute. */
  readonly framesGoalMs: number
  readonly stages: StageFiles
  readonly questdb?: QuestdbServer
  readonly redis?: RedisServer
  /** Inspectors of processes, by name. */
  readonly inspectors: Readonly<Record<string, number>>
  stop(): Promise<unknown>
}

const inspect = (port: number): string => `--inspect=127.0.0.1:${port}`

/** `fxd all`; with `isProfile` it can be inspected. */
export async function startAll(home: string, isProfile: boolean): Promise<Subject> {
  const [port = 0] = await freePorts(1)
  const stages = new StageFiles()
  const env = stages.env('fxd all', isProfile ? [inspect(port)] : [])
  const service = await startService(home, { store: 'embedded', env })
  process.once('exit', () => service.process.kill())
  const { target } = service
  const httpPort = Number(new URL(target.url).port)
  return {
    name: 'fxd all',
    sockets: allSockets,
    httpPort,
    grpc: target.grpc,
    token: target.token,
    issuer: target.issuer,
    readers: { all: httpPort },
    pids: () => ({ 'fxd all': service.process.pid ?? 0 }),
    ingest: 'fxd all',
    opsOfIngest: target.ops,
    framesGoalMs: 60,
    stages,
    inspectors: isProfile ? { 'fxd all': port } : {},
    stop: () => service.stop().finally(() => stages.discard()),
  }
}

/** The command that issues keys of a cluster. */
export function issuerOf({ commandEnv }: Cluster): string {
  const assigned = Object.entries(commandEnv).map(([name, value]) => `${name}='${value}'`)
  return `${assigned.join(' ')} '${join(repository, 'bin/node')}' '${join(repository, 'services/main.ts')}' keys`
}

/** The roles as processes, as `make cluster` starts them; with `isProfile` they can be inspected. */
export async function startProcesses(home: string, isProfile: boolean): Promise<Subject> {
  const names = ['ingest-1', 'stream-1', 'stream-2', 'rest-1', 'rest-2']
  const ports = await freePorts(names.length)
  const stages = new StageFiles()
  const cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 1,
    feeds: join(home, 'feeds'),
    questdb: questdbOfCluster,
    podEnv: (name) => stages.env(name, isProfile ? [inspect(ports[names.indexOf(name)] ?? 0)] : []),
  })
  return {
    name: 'cluster',
    sockets: clusterSockets,
    httpPort: cluster.httpPort,
    grpc: `127.0.0.1:${cluster.grpcPort}`,
    token: cluster.token,
    issuer: issuerOf(cluster),
    readers: { 'rest-1': cluster.pod('rest-1').port, 'rest-2': cluster.pod('rest-2').port },
    pids: () => ({
      ...Object.fromEntries(cluster.pods.map(({ name, program }) => [name, program.pid])),
      questdb: cluster.questdb.pid,
      redis: cluster.redis.pid,
      haproxy: cluster.balancer.pid,
    }),
    ingest: 'ingest-1',
    opsOfIngest: `http://127.0.0.1:${cluster.pod('ingest-1').opsPort}`,
    opsOfStreams: ['stream-1', 'stream-2'].map((name) => `http://127.0.0.1:${cluster.pod(name).opsPort}`),
    framesGoalMs: 100,
    stages,
    questdb: cluster.questdb,
    redis: cluster.redis,
    inspectors: isProfile ? { 'ingest-1': ports[0] ?? 0, 'stream-1': ports[1] ?? 0 } : {},
    stop: () => cluster.stop().finally(() => stages.discard()),
  }
}
