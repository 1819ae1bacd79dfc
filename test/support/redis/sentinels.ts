import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type RedisServer, startRedis } from './server.ts'

export interface RedisGroup {
  /** Two servers; one is primary, the other its replica. */
  readonly servers: readonly [RedisServer, RedisServer]
  readonly sentinels: readonly RedisServer[]
  readonly master: string
  /** The present primary, by its Sentinels. */
  primary(): Promise<RedisServer>
  /** Resolves once a replica follows the primary and the Sentinels know it. */
  replicated(): Promise<void>
  stop(): Promise<void>
}

const master = 'fxd'
const downAfterMs = 700
const groupTimeoutMs = 30_000

/** A primary, its replica and three Sentinels, which replace a primary that is silent for 700 ms. */
export async function startRedisGroup(): Promise<RedisGroup> {
  const first = await startRedis({ settings: ['repl-diskless-sync-delay 0'] })
  const second = await startRedis({
    settings: ['repl-diskless-sync-delay 0', `replicaof ${first.host} ${first.port}`],
  })
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(first)))
  // By default Sentinels poll the servers only every ten seconds.
  for (const each of sentinels) await each.command('SENTINEL DEBUG info-period 200 publish-period 200')
  const servers = [first, second] as const
  const primary = async (): Promise<RedisServer> => {
    for (const sentinel of sentinels) {
      const reply = await sentinel
        .command(`SENTINEL get-master-addr-by-name ${master}`)
        .catch(() => 'unreachable')
      const named = servers.find(({ port }) => reply.includes(`\r\n${port}\r\n`))
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
        return /state=online/.test(info)
      })
      // The Sentinels must have found the replica and each other, or they cannot replace a primary.
      await until(async () => {
        const replies = await Promise.all(sentinels.map((each) => each.command('INFO sentinel')))
        return replies.every((text) => /slaves=1,sentinels=3/.test(text))
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
export const startSentinel = (primary: RedisServer, settings: readonly string[] = []): Promise<RedisServer> =>
  startRedis({
    sentinelFile(folder) {
      const path = join(folder, 'sentinel.conf')
      writeFileSync(path, [...sentinelSettings(primary), ...settings, ''].join('\n'))
      return path
    },
  })

const sentinelSettings = ({ host, port }: RedisServer): readonly string[] => [
  `sentinel monitor ${master} ${host} ${port} 2`,
  `sentinel down-after-milliseconds ${master} ${downAfterMs}`,
  `sentinel failover-timeout ${master} 6000`,
  `sentinel parallel-syncs ${master} 1`,
]

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + groupTimeoutMs; Date.now() < end; await pause(50))
    if (await condition().catch(() => false)) return
  throw new Error('The group of Redis servers did not become ready.')
}
