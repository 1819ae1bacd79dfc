import { readFileSync } from 'node:fs'
import { until } from '../../acceptance/client/until.ts'
import { ask } from '../../faults/support/cluster-user.ts'
import { seeded } from '../../faults/support/seeded.ts'
import { Traffic } from '../../kubernetes/installed/traffic.ts'
import { newKey } from '../clients/new-key.ts'
import type { Cluster } from './cluster.ts'
import { untilUpgraded } from './until-upgraded.ts'

const highLimits = '--plan enterprise --rpm 1000000 --rpd 100000000 --ws-connections 100 --ws-symbols 1000'

/**
 * Starts clients that use a cluster all the time, and a collector that pushes the feed of market.ts. Resolves once each
 * client has received a bar. The key is for these feeds, with limits that the clients do not reach.
 */
export async function startTraffic(
  cluster: Cluster,
  feeds: readonly string[],
): Promise<{ readonly key: string; readonly traffic: Traffic }> {
  const { httpPort, grpcPort, commandEnv, token } = cluster
  const key = await newKey(commandEnv, `${highLimits} --feeds ${feeds.join(',')}`)
  await until('the key to be known', async () => (await ask(httpPort, '/v1/status', key)).status === 200)
  await untilUpgraded(httpPort, key)
  const traffic = new Traffic({
    outside: { ws: `ws://127.0.0.1:${httpPort}`, get: (path, asked) => ask(httpPort, path, asked) },
    ingest: `127.0.0.1:${grpcPort}`,
    token: readFileSync(token, 'utf8').trim(),
    key,
    random: seeded().random,
  })
  await traffic.start()
  return { key, traffic }
}
