import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { type FeedObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import { effort } from '../../support/effort.ts'
import { freePorts } from '../../support/free-ports.ts'
import { BarFlow, eurusd } from './support/bar-flow.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'
import { ShardPods, shardPool } from './support/shard-pods.ts'

interface Event extends KubeObject {
  readonly reason: string
  readonly regarding: { readonly kind: string }
}

let setting: Setting
let operators: OperatorProcess[]
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  operators = await Promise.all(['operator-0', 'operator-1'].map((name) => setting.operator(name)))
  await Promise.all(operators.map((each) => each.start()))
})
afterAll(() => setting?.close())

const leaders = async (): Promise<OperatorProcess[]> => {
  const are = await Promise.all(operators.map((each) => each.metric('fxd_operator_leader')))
  return operators.filter((_, i) => are[i] === 1)
}
const leader = (): Promise<OperatorProcess> =>
  until('one leader', async () => {
    const [one, ...more] = await leaders()
    return more.length === 0 && one
  })

test('two operators are both ready, and one acts', async () => {
  const acting = await leader()
  await setting.applyFeed('zero')
  await setting.reason(resources.feeds, 'zero', 'Registered')
  const [other] = operators.filter((each) => each !== acting)
  expect(await acting.metric('fxd_operator_writes_total')).toBeGreaterThan(0)
  expect(await other?.metric('fxd_operator_writes_total')).toBe(0)
  expect(await other?.metric('fxd_operator_cache_synced')).toBe(10)
})

const hourMs = 3_600_000
/** Duration of the operator's Lease. */
const leaseMs = 15_000
/** Interval of renewals of the Lease by its holder. */
const renewEveryMs = 4_000
/** Minimum interval of writes of a newest bar. */
const newestBarEveryMs = 30_000

test('while bars flow and nothing else changes, only the Lease and the newest bar are written, which is at most a minute old', async () => {
  await setting.applyKey('idle')
  await setting.applyFeed('sim', { account: 'SIM', source: { type: 'Simulator' } })
  await setting.reason(resources.apikeys, 'idle', 'Active')
  await setting.reason(resources.feeds, 'sim', 'CollectorStarting')
  await setting.applyFeed('flow', { account: 'FLOW', symbols: { list: [eurusd] } })
  await setting.reason(resources.feeds, 'flow', 'Registered')
  const flow = new BarFlow(setting.ingest.address, 'BROKERA:FLOW')
  const [port = 0] = await freePorts(1)
  const pods = new ShardPods(setting, port)
  onTestFinished(async () => {
    await setting.remove(resources.streampools, 'pool')
    await flow.close()
    await pods.close()
  })
  await setting.applyPool('pool', shardPool(port))
  await setting.reason(resources.streampools, 'pool', 'Serving')
  // The operator writes an Event after the status that it is about.
  await until('the Event of the pool', async () => {
    const events = await setting.list<Event>(resources.events)
    return events.some(({ reason, regarding }) => reason === 'Serving' && regarding.kind === 'StreamPool')
  })
  await until(
    'bars in the status',
    async () => {
      const feed = await setting.get<FeedObject>(resources.feeds, 'flow')
      return feed?.status?.newestBar !== undefined
    },
    60_000,
  )
  const acting = await leader()
  const looks = (kind: string): Promise<number> => acting.metric('fxd_operator_reconciles_total', { kind })
  const [keys, pools, minutes] = [await looks('apikeys'), await looks('streampools'), flow.minutes]
  const { writes, leaseWrites } = setting.gateway
  const written = [writes.length, setting.registry.writes.length, leaseWrites.length] as const
  const begunMs = performance.now()
  const times = Math.min(3, effort)
  // The registry is read every 15 s, and the loads of shards every 10 s.
  const areDone = async (): Promise<boolean> =>
    (await looks('apikeys')) >= keys + 5 * times && (await looks('streampools')) >= pools + 5 * times
  await until('a reconcile of everything', areDone, 120_000 * times)
  const tookMs = performance.now() - begunMs
  const renewals = leaseWrites.length - written[2]
  const inAnHour = (count: number): number => Math.round((count * hourMs) / tookMs)
  console.log(
    `idle for ${Math.round(tookMs / 1_000)} s; in an hour ${inAnHour(renewals)} renewals of the Lease, ` +
      `${inAnHour(writes.length - written[0])} other writes`,
  )
  const newest = (await setting.get<FeedObject>(resources.feeds, 'flow'))?.status?.newestBar
  expect(tookMs).toBeGreaterThan(60_000)
  expect(flow.minuteOf(`${newest}Z`)).toBeGreaterThan(minutes)
  const paths = writes.slice(written[0]).map(({ path }) => path)
  expect(new Set(paths)).toEqual(new Set([`${setting.path(resources.feeds, 'flow')}/status`]))
  expect(paths.length).toBeLessThanOrEqual(1 + Math.floor(tookMs / newestBarEveryMs))
  expect(renewals).toBeGreaterThan(0)
  expect(renewals).toBeLessThanOrEqual(1 + Math.floor(tookMs / renewEveryMs))
  expect(setting.registry.writes.slice(written[1])).toEqual([])
  expect(flow.minutes).toBeGreaterThan(minutes)
}, 600_000)

test('after a kill of the leader another operator acts, but not before the Lease expires', async () => {
  const killed = await leader()
  const [other] = operators.filter((each) => each !== killed)
  await killed.kill()
  const lease = await setting.get<KubeObject & { spec: { renewTime: string } }>(
    resources.leases,
    'fxd-operator',
  )
  await setting.applyFeed('after', { account: 'AFTER' })
  await setting.reason(resources.feeds, 'after', 'Registered')
  expect(await other?.metric('fxd_operator_leader')).toBe(1)
  const taken = await setting.get<KubeObject & { spec: { acquireTime: string } }>(
    resources.leases,
    'fxd-operator',
  )
  const waited = Date.parse(taken?.spec.acquireTime ?? '') - Date.parse(lease?.spec.renewTime ?? '')
  expect(waited).toBeGreaterThanOrEqual(leaseMs)
  await killed.start()
}, 60_000)

test('a leader without the API server stops acting and is not ready, and resumes when it is back', async () => {
  const acting = await leader()
  setting.gateway.cut()
  await until('no operator to act', async () => (await leaders()).length === 0)
  const answer = await fetch(`http://127.0.0.1:${acting.opsPort}/readyz`)
  expect(await answer.text()).toMatch(/not ready: the cache of \w+ is not in sync/)
  setting.gateway.restore()
  await setting.applyFeed('back', { account: 'BACK' })
  await setting.reason(resources.feeds, 'back', 'Registered')
  for (const { opsPort } of operators)
    await until(
      'ready',
      async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status === 200,
      60_000,
    )
}, 120_000)

test('a clean stop of the leader hands over at once', async () => {
  // The other one takes a released Lease at its next attempt, seconds before the Lease would have expired.
  const acting = await leader()
  await acting.stop()
  const lease = await setting.get<KubeObject & { spec: { holderIdentity: string } }>(
    resources.leases,
    'fxd-operator',
  )
  expect(lease?.spec.holderIdentity).not.toBe(acting.name)
  const [other] = operators.filter((each) => each !== acting)
  const leads = async (): Promise<boolean> => (await other?.metric('fxd_operator_leader')) === 1
  await until('the other one to lead', leads, leaseMs - 1_000)
  await acting.start()
}, 60_000)
