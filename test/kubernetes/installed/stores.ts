import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type QuestdbServer, startQuestdb } from '../../support/questdb/server.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { serviceOf } from '../cluster/service-of.ts'

const passwords = {
  questdb: 'quest-writes',
  'questdb-reader': 'quest-reads',
  'redis-rest': 'redis-rest',
  'redis-stream': 'redis-stream',
  'redis-ingest': 'redis-ingest',
}
const aclFile = join(import.meta.dirname, '../../../charts/fxd/files/redis-users.acl')

export interface OutsideStores {
  readonly questdb: QuestdbServer
  readonly redis: RedisServer
  /** Runs a statement in QuestDB as its administrator. */
  sql(statement: string): Promise<void>
  /** Values of the chart that select these stores. */
  readonly values: object
  stop(): Promise<void>
}

/**
 * Starts QuestDB and Redis as processes of this machine, behind the Services `questdb` and `redis` of the namespace.
 * Each role has a separate user; the passwords are in the Secret `stores`.
 */
export async function startStores(cluster: KubernetesCluster, namespace: string): Promise<OutsideStores> {
  const host = cluster.network.machineAddress
  const [questdb, redis] = await Promise.all([
    startQuestdb({
      host,
      settings: {
        QDB_PG_PASSWORD: passwords.questdb,
        QDB_PG_READONLY_USER_ENABLED: 'true',
        QDB_PG_READONLY_USER: 'reader',
        QDB_PG_READONLY_PASSWORD: passwords['questdb-reader'],
        QDB_HTTP_USER: 'admin',
        QDB_HTTP_PASSWORD: passwords.questdb,
        QDB_PG_NET_CONNECTION_LIMIT: '200',
        QDB_SHARED_WORKER_COUNT: '4',
        QDB_CAIRO_COMMIT_MODE: 'sync',
      },
    }),
    startRedis({ host, settings: [...redisUsers(), 'protected-mode no'] }),
  ])
  await cluster.apply(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'stores', namespace },
      stringData: passwords,
    },
    ...serviceOf({ name: 'questdb', namespace }, host, [
      { name: 'http', port: 9000, processPort: questdb.http.port },
      { name: 'postgres', port: 8812, processPort: questdb.pg.port },
    ]),
    ...serviceOf({ name: 'redis', namespace }, host, [
      { name: 'redis', port: 6379, processPort: redis.port },
    ]),
  )
  const user = (name: string, key: string): object => ({ user: name, existingSecret: 'stores', key })
  return {
    questdb,
    redis,
    sql: async (statement) => {
      const query = new URLSearchParams({ query: statement }).toString()
      const response = await fetch(`http://${host}:${questdb.http.port}/exec?${query}`, {
        headers: { authorization: `Basic ${btoa(`admin:${passwords.questdb}`)}` },
      })
      if (!response.ok) throw new Error(`QuestDB answered ${response.status} to ${statement}`)
    },
    values: {
      questdb: {
        enabled: false,
        host: 'questdb',
        writer: user('admin', 'questdb'),
        reader: user('reader', 'questdb-reader'),
      },
      redis: {
        enabled: false,
        host: 'redis',
        users: {
          rest: user('fxd-rest', 'redis-rest'),
          stream: user('fxd-stream', 'redis-stream'),
          ingest: user('fxd-ingest', 'redis-ingest'),
        },
      },
    },
    stop: async () => void (await Promise.all([questdb.stop(), redis.stop()])),
  }
}

/** The users of the chart, with the passwords of these tests. */
const redisUsers = (): readonly string[] =>
  readFileSync(aclFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('user '))
    .map((line) => line.replace(/<(\w+)>/, (_, role: string) => `redis-${role}`))
