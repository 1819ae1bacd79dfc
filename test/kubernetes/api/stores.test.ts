import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Resource } from '../../../operator/kube/object.ts'
import { type FeedObject, type PoolObject, resources } from '../../../operator/kube/resources.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { prepareRedisStores } from '../../../services/stores/redis/open.ts'
import { connected } from '../../support/connected.ts'
import { type IngestFixture, openIngestFixture, testToken } from '../../support/fixtures/ingest-fixture.ts'
import { freePorts } from '../../support/free-ports.ts'
import { oneServer } from '../../support/questdb/one-server.ts'
import { openOn } from '../../support/questdb/stores.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'
import { ShardPods, shardPool } from './support/shard-pods.ts'

/** Time within which the objects show an outage. */
const shownMs = 30_000
const startTimeoutMs = 180_000

const questdb = oneServer()
let redis: RedisServer
let ingest: IngestFixture
let closeStores: () => Promise<unknown>
let setting: Setting
let operator: OperatorProcess
let pods: ShardPods
beforeAll(async () => {
  redis = await startRedis()
  const { stores: bars } = await openOn(questdb(), { user: 'ingest' })
  const bus = await connected(
    prepareRedisStores({
      at: { sentinels: [], master: '', url: redis.url },
      prefix: 'stores:',
      admits: false,
      pods: 1,
      clock: systemClock,
      log: silentLog,
      metrics: createMetrics({ ofProcess: false }),
    }),
  )
  closeStores = () => Promise.all([bars.close(), bus.close()])
  ingest = await openIngestFixture([], { stores: { ...bars, ...bus, close: async () => void closeStores() } })
  setting = await openSetting(inject('apiServer'))
  operator = await setting.operator('operator-0', { ingest: ingest.address, adminToken: testToken })
  await operator.start()
  const [port = 0] = await freePorts(1)
  pods = new ShardPods(setting, port)
  await setting.applyFeed('zero')
  await setting.applyPool('pool', shardPool(port))
  await allReady()
}, startTimeoutMs)
afterAll(async () => {
  await pods?.close()
  await setting?.close()
  await ingest?.remove()
  await closeStores?.()
  await redis?.stop()
}, startTimeoutMs)

const allReady = async (): Promise<void> => {
  await setting.reason(resources.feeds, 'zero', 'Registered')
  await setting.reason(resources.streampools, 'pool', 'Serving')
}
const statusesOf = async (of: Resource, name: string): Promise<readonly string[]> => {
  const object = await setting.get<FeedObject | PoolObject>(of, name)
  return (object?.status?.conditions ?? []).map(({ type, status, reason }) => `${type} ${status} ${reason}`)
}
/** Resolves once Feed and StreamPool have these conditions. */
async function expectShown(...conditions: readonly string[]): Promise<void> {
  const begunMs = performance.now()
  const read = () =>
    Promise.all([statusesOf(resources.feeds, 'zero'), statusesOf(resources.streampools, 'pool')])
  await expect.poll(read, { timeout: shownMs, interval: 200 }).toEqual([conditions, conditions])
  console.log(`${conditions[0]} after ${((performance.now() - begunMs) / 1_000).toFixed(1)} s`)
}

const storeIsAway = [
  'Ready False StoreUnavailable',
  'StoreAvailable False StoreUnavailable',
  'BusAvailable True Available',
]

test('an outage of the store is on every Feed and StreamPool within 30 s, for a new operator too, and ends by itself', async () => {
  await questdb().kill()
  await expectShown(...storeIsAway)
  await operator.kill()
  await operator.start()
  await setting.applyFeed('new', { account: 'NEW' })
  await setting.reason(resources.feeds, 'new', 'StoreUnavailable')
  expect(await statusesOf(resources.feeds, 'zero')).toEqual(storeIsAway)
  await questdb().start()
  await allReady()
  await setting.reason(resources.feeds, 'new', 'Registered')
}, 300_000)

test('an outage of the bus is on every Feed and StreamPool within 30 s and ends by itself', async () => {
  await redis.freeze()
  await expectShown(
    'Ready False BusUnavailable',
    'StoreAvailable True Available',
    'BusAvailable False BusUnavailable',
  )
  redis.thaw()
  await allReady()
}, 120_000)
