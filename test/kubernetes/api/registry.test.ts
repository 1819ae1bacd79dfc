import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type ApiKeyObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'

const waitMs = 60_000
let setting: Setting
let operator: OperatorProcess
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  operator = await setting.operator('operator-0')
  await operator.start()
  await setting.applyFeed('zero')
  await setting.reason(resources.feeds, 'zero', 'Registered')
})
afterAll(() => setting?.close())

const reachable = async (wanted: 0 | 1): Promise<void> => {
  const read = () => operator.metric('fxd_operator_registry_reachable')
  await expect.poll(read, { timeout: waitMs }).toBe(wanted)
}

test('while the registry is unavailable, a metric and new objects report it; both recover with it', async () => {
  await reachable(1)
  setting.registry.cut()
  await reachable(0)
  await setting.applyKey('waiting')
  const waiting = await setting.reason<ApiKeyObject>(resources.apikeys, 'waiting', 'Unavailable')
  expect(waiting.status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'False' })
  await setting.reason(resources.feeds, 'zero', 'Registered')
  setting.registry.restore()
  const begunMs = performance.now()
  await reachable(1)
  expect(performance.now() - begunMs).toBeLessThan(5_000)
  await setting.reason(resources.apikeys, 'waiting', 'Active')
}, 120_000)

test('an operator that cannot read the list of feeds still makes and suspends keys', async () => {
  await setting.applyKey('first')
  await setting.reason(resources.apikeys, 'first', 'Active')
  await operator.kill()
  setting.registry.cut('ListFeeds')
  await operator.start()
  await reachable(0)
  await setting.applyKey('second')
  await setting.reason(resources.apikeys, 'second', 'Active')
  const secret = await setting.secret('first')
  expect(setting.opens(secret)).toBe('first')
  await setting.remove(resources.apikeys, 'first')
  await until('the key to be suspended', () => setting.opens(secret) === undefined, waitMs)
  setting.registry.restore()
  await reachable(1)
}, 180_000)

test('the next operator first revokes the key whose ApiKey was revoked while no operator ran', async () => {
  const names = ['a', 'b', 'c', 'revoked']
  for (const name of names) await setting.applyKey(name)
  for (const name of names) await setting.reason(resources.apikeys, name, 'Active')
  await operator.kill()
  await setting.applyKey('revoked', { revoked: true })
  const before = setting.registry.writes.length
  await operator.start()
  await setting.reason(resources.apikeys, 'revoked', 'Revoked')
  const calls = setting.registry.writes.slice(before).filter((call) => call.endsWith('Key'))
  expect(calls[0]).toBe('RevokeKey')
}, 120_000)
