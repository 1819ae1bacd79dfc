import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { whyNoEarlierRelease } from '../../support/processes/earlier-release.ts'
import type { KubernetesCluster } from '../cluster/cluster.ts'
import { buildEarlierImage } from '../image/build-earlier-image.ts'
import { CollectorPod } from '../installed/collector-pod.ts'
import { deliveredKey } from '../installed/delivered-key.ts'
import { namespace } from '../installed/installed.ts'
import { firstFeed, workKey } from '../installed/objects.ts'
import { startUnderLoad, type UnderLoad } from '../installed/under-load.ts'

/**
 * The service is downgraded to the earlier release and upgraded again, with stored bars, keys and open sockets, on one
 * QuestDB and one Redis. The collectors are not replaced: the operator replaces them only after ingest has the Feed, and
 * the earlier ingest cannot take a Feed. test/cluster/rolling/upgrade.test.ts tests collectors and spools of both.
 */
const startTimeoutMs = 900_000
const patient = { timeout: 120_000, interval: 500 }
const reason = whyNoEarlierRelease()

/** The earlier release has one token for all purposes, and one user of each store. */
async function oneTokenForAll(cluster: KubernetesCluster): Promise<object> {
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'one-token', namespace },
    stringData: { token: randomBytes(32).toString('hex') },
  })
  const token = { existingSecret: 'one-token', key: 'token' }
  const questdb = { user: 'admin', existingSecret: 'stores', key: 'questdb' }
  // Redis' default user has no password, so it accepts any.
  const redis = { user: 'default', existingSecret: 'stores', key: 'redis-rest' }
  return {
    secrets: { adminToken: token, shardToken: token, signingKeys: token },
    questdb: { enabled: false, host: 'questdb', writer: questdb, reader: questdb },
    redis: { enabled: false, host: 'redis', users: { rest: redis, stream: redis, ingest: redis } },
  }
}

let loaded: UnderLoad
beforeAll(async () => {
  if (reason !== undefined) return
  loaded = await startUnderLoad({
    images: async (into) => [await buildEarlierImage('fxd:earlier', into)],
    prepare: oneTokenForAll,
    hoursBack: 23,
  })
}, startTimeoutMs)
afterAll(() => loaded?.stop())

const roles = ['ingest', 'rest', 'stream']

/** Role and image of all pods of these roles, such as `rest fxd:test`, without repetitions. */
async function images(): Promise<readonly string[]> {
  const selector = `app.kubernetes.io/component in (${roles.join(',')})`
  const pods = JSON.parse(await loaded.kubectl('get', 'pods', '-l', selector, '-o=json')) as {
    readonly items: readonly {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: readonly { readonly image: string }[] }
    }[]
  }
  const all = pods.items.map(
    ({ metadata, spec }) => `${metadata.labels['app.kubernetes.io/component']} ${spec.containers[0]?.image}`,
  )
  return [...new Set(all)].toSorted()
}

const statusOf = async (key: string): Promise<number> => (await loaded.outside.get('/v1/status', key)).status

test('a downgrade to the earlier release and an upgrade from it lose no bar', async ({ skip }) => {
  skip(reason !== undefined, reason)
  const { installed, traffic, kubectl, outside } = loaded
  await kubectl('apply', '-f', firstFeed)
  await installed.cluster.apply(workKey({ issue: 1 }))
  await Promise.all([loaded.ready('feed', 'demo'), loaded.ready('apikey', 'work')])
  const collector = new CollectorPod(loaded, 'demo')
  const first = await deliveredKey(installed.cluster, namespace, 'work')
  await expect.poll(() => statusOf(first), patient).toBe(200)
  const path = '/v1/history?symbol=DEMO:SIM:BTCUSD&resolution=1&countback=3'
  const newest = async (): Promise<number> =>
    ((await outside.get(path, first)).body as { t?: number[] }).t?.at(-1) ?? 0
  for (const tag of ['earlier', 'test']) {
    await installed.upgrade({ image: { tag } })
    await loaded.shards(2)
    await expect.poll(images, patient).toEqual(roles.map((role) => `${role} fxd:${tag}`))
    await collector.ready()
    await traffic.join(6)
    await expect.poll(newest, patient).toBeGreaterThan(0)
    const begun = await newest()
    expect(begun).toBeGreaterThan(0)
    await expect.poll(newest, patient).toBeGreaterThan(begun)
    expect(await statusOf(first)).toBe(200)
    await traffic.caughtUp()
    expect(traffic.checkPlanned()).toEqual([])
    console.log(`to fxd:${tag}: 0 bars missed, ${traffic.summary()}`)
  }
  // The operator administers keys again, and no stored bar was lost.
  await installed.cluster.apply(workKey({ issue: 2 }))
  await expect.poll(() => deliveredKey(installed.cluster, namespace, 'work'), patient).not.toBe(first)
  const second = await deliveredKey(installed.cluster, namespace, 'work')
  await expect.poll(() => statusOf(second), patient).toBe(200)
  await expect.poll(() => traffic.checkHistory(), { timeout: 300_000, interval: 1_000 }).toEqual([])
})
