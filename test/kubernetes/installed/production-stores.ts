import { readFileSync } from 'node:fs'
import { type RedisGroup, startRedisGroup } from '../../support/redis/sentinels.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { serviceOf } from '../cluster/service-of.ts'
import { type OutsideStores, redisUsers, startQuestdbOf } from './stores.ts'

/** The namespace that values-production.yaml names. */
const databases = 'databases'
const sentinelPassword = 'redis-sentinels'
const passwords = { writer: 'quest-writes', reader: 'quest-reads' }
/** What `helm install` prints for these values. */
const connectionsMax = 356

export interface ProductionStores extends OutsideStores {
  readonly group: RedisGroup
}

/**
 * The stores that values-production.yaml names, as processes of this machine: QuestDB, and a Redis with two replicas and
 * three Sentinels, all with TLS. Their passwords are in the Secrets of those values.
 */
export async function startProductionStores(
  { apply, credentials, kubectl, network }: KubernetesCluster,
  namespace: string,
): Promise<ProductionStores> {
  const host = network.machineAddress
  const names = [host, ...[0, 1, 2].map((i) => `sentinel-${i}.${databases}.svc`)]
  const [quest, group] = await Promise.all([
    startQuestdbOf(host, {
      writer: { user: 'fxd_writer', password: passwords.writer },
      reader: { user: 'fxd_reader', password: passwords.reader },
      connectionsMax,
    }),
    startRedisGroup({
      host,
      replicas: 2,
      sentinelPassword,
      tls: { ...credentials.forNames('redis', ...names), ca: credentials.ca },
      settings: [...redisUsers(), 'protected-mode no', 'min-replicas-to-write 1', 'min-replicas-max-lag 10'],
    }),
  ])
  await kubectl('create', 'namespace', databases)
  const secret = (name: string, stringData: object): object => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace },
    stringData,
  })
  await apply(
    secret('fxd-questdb', passwords),
    secret('fxd-redis', { rest: 'redis-rest', stream: 'redis-stream', ingest: 'redis-ingest' }),
    secret('fxd-sentinel', { password: sentinelPassword }),
    secret('redis-authority', { 'ca.crt': readFileSync(credentials.ca, 'utf8') }),
    ...serviceOf({ name: 'questdb', namespace: databases }, host, [
      { name: 'http', port: 9000, processPort: quest.questdb.http.port },
      { name: 'postgres', port: 8812, processPort: quest.questdb.pg.port },
    ]),
    ...group.sentinels.flatMap(({ tlsPort = 0 }, i) =>
      serviceOf({ name: `sentinel-${i}`, namespace: databases }, host, [
        { name: 'sentinel', port: 26_379, processPort: tlsPort },
      ]),
    ),
  )
  return {
    ...quest,
    redis: await group.primary(),
    group,
    values: {},
    stop: async () => void (await Promise.all([quest.questdb.stop(), group.stop()])),
  }
}
