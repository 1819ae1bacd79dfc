import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { registryClient } from '../../../services/wire/unary-client.ts'
import { ask, type UserAnswer } from '../../faults/support/cluster-user.ts'
import { manifest } from '../../faults/support/market.ts'
import type { Traffic } from '../../kubernetes/installed/traffic.ts'
import { openTcpProxy, type TcpProxy } from '../../support/clients/tcp-proxy.ts'
import { type Cluster, type Pod, type Role, startCluster } from '../../support/cluster/cluster.ts'
import { rollOut } from '../../support/cluster/roll-out.ts'
import { startTraffic } from '../../support/cluster/start-traffic.ts'
import { freePorts } from '../../support/free-ports.ts'
import { bareEnv } from '../../support/processes/bare-env.ts'
import { earlierRelease } from '../../support/processes/earlier-release.ts'
import { followed, followedFeed } from '../../support/samples/followed-feed.ts'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../../..')
const drainSeconds = 6
export const followedSymbol = 'GOLD'
export const feeds = ['BROKERA:ZERO', followedFeed]

export const releases = ['old', 'new'] as const
export type Release = (typeof releases)[number]

/** A cluster on one QuestDB and one Redis whose processes run two releases, with clients that use it. */
export interface TwoReleases {
  readonly cluster: Cluster
  readonly traffic: Traffic
  /** Proxy between the collector and all ingests. */
  readonly ingestProxy: TcpProxy
  /** The folder of exports that the collector reads. */
  readonly exports: string
  /** Stops processes as a rollout does and starts each with this release; resolves once the load balancer uses all. */
  replace(names: readonly string[], by: Release): Promise<void>
  /** The process of this role that runs this release. */
  pod(role: Role, release: Release): Pod
  /** Runs a command of a release against the ingest of the same release; returns its JSON. */
  fxd(release: Release, line: string): Promise<Record<string, unknown>>
  /** Client of the Registry service at the ingest of a release. */
  registry(release: Release): ReturnType<typeof registryClient>
  /** Sends a request through the load balancer, with a key for all feeds. */
  ask(path: string): Promise<UserAnswer>
  /** Sends a request to one pod, by default with the same key; its limits are never reached. */
  get(pod: Pod, path: string, key?: string): Promise<UserAnswer>
  /** Stops everything; returns the processes that did not exit with 0. */
  stop(): Promise<readonly string[]>
}

/** Starts all processes with the old release; resolves once every client has received a bar. */
export async function startTwoReleases(): Promise<TwoReleases> {
  const code = { old: earlierRelease(), new: repository }
  const home = mkdtempSync(join(tmpdir(), 'fxd-releases-'))
  const exports = join(home, 'exports')
  mkdirSync(exports)
  const manifests = join(home, 'feeds.yaml')
  writeFileSync(manifests, manifest + followed(exports, [followedSymbol]))
  const [grpcPort = 0] = await freePorts(1)
  const ingestProxy = await openTcpProxy({ host: '127.0.0.1', port: grpcPort })
  const runs = new Map<string, Release>()
  const releaseOf = (name: string): Release => runs.get(name) ?? 'old'
  const cluster = await startCluster({
    rest: 2,
    stream: 2,
    ingest: 2,
    feeds: manifests,
    home: join(home, 'cluster'),
    grpcPort,
    env: { FXD_DRAIN_SECONDS: String(drainSeconds) },
    podEnv: (name) =>
      name.startsWith('collector') ? { FXD_INGEST: `${ingestProxy.host}:${ingestProxy.port}` } : {},
    code: (name) => code[releaseOf(name)],
  })
  const end = async (): Promise<readonly string[]> => {
    const failed = await cluster.stop()
    await ingestProxy.close()
    rmSync(home, { recursive: true, force: true })
    return failed
  }
  const pod: TwoReleases['pod'] = (role, release) => {
    const found = cluster.pods.find((each) => each.role === role && releaseOf(each.name) === release)
    if (found) return found
    throw new Error(`no ${role} runs the ${release} release`)
  }
  const ingestOf = (release: Release): string => `127.0.0.1:${pod('ingest', release).port}`
  try {
    const { key, traffic } = await startTraffic(cluster, feeds)
    return {
      cluster,
      traffic,
      ingestProxy,
      exports,
      pod,
      async fxd(release, line) {
        const env = { ...bareEnv(), ...cluster.commandEnv, FXD_GRPC_ADDR: ingestOf(release) }
        const words = [join(code[release], 'services/main.ts'), ...line.split(' '), '--json']
        const { stdout } = await run(join(repository, 'bin/node'), words, { env })
        return JSON.parse(stdout) as Record<string, unknown>
      },
      registry: (release) =>
        registryClient(ingestOf(release), { token: readFileSync(cluster.token, 'utf8').trim() }),
      ask: (path) => ask(cluster.httpPort, path, key),
      get: ({ port }, path, asked = key) => ask(port, path, asked),
      async replace(names, by) {
        for (const name of names) runs.set(name, by)
        await Promise.all(names.map((name) => rollOut(cluster, name)))
      },
      async stop() {
        await traffic.stop()
        return end()
      },
    }
  } catch (cause) {
    await end()
    throw cause
  }
}
