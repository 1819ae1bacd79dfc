import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'

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

test('of two operators both are ready and one acts', async () => {
  const acting = await leader()
  await setting.applyFeed('zero')
  await setting.reason(resources.feeds, 'zero', 'Registered')
  const [other] = operators.filter((each) => each !== acting)
  expect(await acting.metric('fxd_operator_writes_total')).toBeGreaterThan(0)
  expect(await other?.metric('fxd_operator_writes_total')).toBe(0)
  expect(await other?.metric('fxd_operator_cache_synced')).toBe(10)
})

test('nothing is written while nothing changes', async () => {
  await setting.applyKey('idle')
  await setting.applyFeed('sim', { account: 'SIM', source: { type: 'Simulator' } })
  await setting.reason(resources.apikeys, 'idle', 'Active')
  await setting.reason(resources.feeds, 'sim', 'CollectorStarting')
  const acting = await leader()
  // Two looks at everything: what the last writes caused is over after the first.
  const looks = (): Promise<number> => acting.metric('fxd_operator_reconciles_total', { kind: 'feeds' })
  const from = await looks()
  await until('a look at everything', async () => (await looks()) >= from + 2, 60_000)
  const written = setting.gateway.writes.length
  const begun = await looks()
  await until('two more looks at everything', async () => (await looks()) >= begun + 4, 60_000)
  expect(setting.gateway.writes.slice(written)).toEqual([])
}, 120_000)

test('another operator acts when the leader is killed, and before its Lease ends nobody does', async () => {
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
  expect(waited).toBeGreaterThanOrEqual(15_000)
  await killed.start()
}, 60_000)

test('a leader that is cut off stops acting, is not ready, and goes on when the API server is back', async () => {
  const acting = await leader()
  setting.gateway.cut()
  await until('nobody to act', async () => (await leaders()).length === 0)
  const answer = await fetch(`http://127.0.0.1:${acting.opsPort}/readyz`)
  expect(await answer.text()).toMatch(/not ready: the cache of \w+ is not in sync/)
  setting.gateway.join()
  await setting.applyFeed('back', { account: 'BACK' })
  await setting.reason(resources.feeds, 'back', 'Registered')
  for (const { opsPort } of operators)
    await until(
      'ready',
      async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).status === 200,
      60_000,
    )
}, 120_000)

test('a leader that ends hands over at once', async () => {
  // The other one takes an empty Lease at its next look, seconds before the Lease would have ended.
  const acting = await leader()
  await acting.stop()
  const lease = await setting.get<KubeObject & { spec: { holderIdentity: string } }>(
    resources.leases,
    'fxd-operator',
  )
  expect(lease?.spec.holderIdentity).not.toBe(acting.name)
  await acting.start()
}, 60_000)
