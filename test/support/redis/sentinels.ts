import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type RedisServer, type RedisServerOptions, startRedis } from './server.ts'

export interface RedisGroup {
  /** One is primary, the others are its replicas. */
  readonly servers: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  readonly master: string
  /** The present primary, by its Sentinels. */
  primary(): Promise<RedisServer>
  /** Resolves once all replicas follow the primary and the Sentinels know them. */
  replicated(): Promise<void>
  stop(): Promise<void>
}

const master = 'fxd'
const downAfterMs = 700
const groupTimeoutMs = 30_000

export interface RedisGroupOptions extends Pick<RedisServerOptions, 'host' | 'tls' | 'settings'> {
  /** Default: 1. */
  readonly replicas?: number
  readonly sentinelPassword?: string
}

/** A primary, its replicas and three Sentinels, which replace a primary that is silent for 700 ms. */
export async function startRedisGroup(options: RedisGroupOptions = {}): Promise<RedisGroup> {
  const { replicas = 1, sentinelPassword: password, settings = [], ...common } = options
  const startServer = (...more: readonly string[]): Promise<RedisServer> =>
    startRedis({ ...common, settings: ['repl-diskless-sync-delay 0', ...settings, ...more] })
  const first = await startServer()
  const follow = `replicaof ${first.host} ${sharedPort(first)}`
  const others = await Promise.all(Array.from({ length: replicas }, () => startServer(follow)))
  const passwords = password === undefined ? [] : [`requirepass ${password}`]
  const sentinels = await Promise.all(
    [1, 2, 3].map(() =>
      startSentinel(first, passwords, { ...common, ...(password !== undefined && { password }) }),
    ),
  )
  // By default Sentinels poll the servers only every ten seconds.
  for (const each of sentinels) await each.command('SENTINEL DEBUG info-period 200 publish-period 200')
  const servers = [first, ...others]
  const primary = async (): Promise<RedisServer> => {
    for (const sentinel of sentinels) {
      const reply = await sentinel
        .command(`SENTINEL get-master-addr-by-name ${master}`)
        .catch(() => 'unreachable')
      const named = servers.find((server) => reply.includes(`\r\n${sharedPort(server)}\r\n`))
      if (named) return named
    }
    throw new Error('No Sentinel names a primary.')
  }
  const group: RedisGroup = {
    servers,
    sentinels,
    master,
    primary,
    async replicated() {
      await until(async () => {
        const info = await (await primary()).command('INFO replication')
        return info.match(/state=online/g)?.length === replicas
      })
      // The Sentinels must have found the replicas and each other, or they cannot replace a primary.
      await until(async () => {
        const replies = await Promise.all(sentinels.map((each) => each.command('INFO sentinel')))
        return replies.every((text) => text.includes(`slaves=${replicas},sentinels=3`))
      })
    },
    async stop() {
      await Promise.all([...sentinels, ...servers].map((each) => each.stop()))
    },
  }
  await group.replicated()
  return group
}

/** Starts a Sentinel of this primary, with additional settings. */
export const startSentinel = (
  primary: RedisServer,
  settings: readonly string[] = [],
  options: Pick<RedisServerOptions, 'host' | 'tls' | 'password'> = {},
): Promise<RedisServer> =>
  startRedis({
    ...options,
    sentinelFile(folder) {
      const path = join(folder, 'sentinel.conf')
      writeFileSync(path, [...sentinelSettings(primary), ...settings, ''].join('\n'))
      return path
    },
  })

/** The port that servers and Sentinels use among each other. */
const sharedPort = ({ port, tlsPort }: RedisServer): number => tlsPort ?? port

const sentinelSettings = (primary: RedisServer): readonly string[] => [
  `sentinel monitor ${master} ${primary.host} ${sharedPort(primary)} 2`,
  `sentinel down-after-milliseconds ${master} ${downAfterMs}`,
  `sentinel failover-timeout ${master} 6000`,
  `sentinel parallel-syncs ${master} 1`,
]

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + groupTimeoutMs; Date.now() < end; await pause(50))
    if (await condition().catch(() => false)) return
  throw new Error('The group of Redis servers did not become ready.')
}
