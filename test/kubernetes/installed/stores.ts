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
  const [{ questdb, sql }, redis] = await Promise.all([
    startQuestdbOf(host, {
      writer: { user: 'admin', password: passwords.questdb },
      reader: { user: 'reader', password: passwords['questdb-reader'] },
      connectionsMax: 200,
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
    sql,
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

interface StoreUser {
  readonly user: string
  readonly password: string
}

/** Starts a QuestDB with these two users. */
export async function startQuestdbOf(
  host: string,
  {
    writer,
    reader,
    connectionsMax,
  }: { readonly writer: StoreUser; readonly reader: StoreUser; readonly connectionsMax: number },
): Promise<Pick<OutsideStores, 'questdb' | 'sql'>> {
  const questdb = await startQuestdb({
    host,
    settings: {
      QDB_PG_USER: writer.user,
      QDB_PG_PASSWORD: writer.password,
      QDB_PG_READONLY_USER_ENABLED: 'true',
      QDB_PG_READONLY_USER: reader.user,
      QDB_PG_READONLY_PASSWORD: reader.password,
      QDB_HTTP_USER: writer.user,
      QDB_HTTP_PASSWORD: writer.password,
      QDB_PG_NET_CONNECTION_LIMIT: String(connectionsMax),
      QDB_SHARED_WORKER_COUNT: '4',
      QDB_CAIRO_COMMIT_MODE: 'sync',
    },
  })
  return {
    questdb,
    sql: async (statement) => {
      const query = new URLSearchParams({ query: statement }).toString()
      const response = await fetch(`http://${host}:${questdb.http.port}/exec?${query}`, {
        headers: { authorization: `Basic ${btoa(`${writer.user}:${writer.password}`)}` },
      })
      if (!response.ok) throw new Error(`QuestDB answered ${response.status} to ${statement}`)
    },
  }
}

/** The users of the chart, with the passwords of these tests. */
export const redisUsers = (): readonly string[] =>
  readFileSync(aclFile, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('user '))
    .map((line) => line.replace(/<(\w+)>/, (_, role: string) => `redis-${role}`))
