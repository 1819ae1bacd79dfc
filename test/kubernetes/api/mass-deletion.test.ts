import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { type ApiKeyObject, resources } from '../../../operator/kube/resources.ts'
import { until } from '../../acceptance/client/until.ts'
import type { OperatorProcess } from './support/operator-process.ts'
import { openSetting, type Setting } from './support/setting.ts'

const names = Array.from({ length: 8 }, (_, i) => `key-${i}`)
let setting: Setting
let operator: OperatorProcess
beforeAll(async () => {
  setting = await openSetting(inject('apiServer'))
  operator = await setting.operator('operator-0')
  await operator.start()
  await setting.applyFeed('zero')
  for (const name of names) await setting.applyKey(name)
  for (const name of names) await setting.reason(resources.apikeys, name, 'Active')
})
afterAll(() => setting?.close())

const heldOf = (kind: string): Promise<number> => operator.metric('fxd_operator_deletions_held', { kind })
const suspended = (): string[] =>
  setting.ingest.registry
    .view()
    .keys.all()
    .flatMap(({ id, suspended: isSuspended }) => (isSuspended ? [id] : []))

test('when most ApiKeys are deleted at once, their keys stay, and an Event and a condition report it', async () => {
  for (const name of names.slice(1)) await setting.remove(resources.apikeys, name)
  await until('the deletion to be held', async () => (await heldOf('apikeys')) === 7, 40_000)
  // Two more reconciles.
  const looks = (): Promise<number> => operator.metric('fxd_operator_reconciles_total', { kind: 'apikeys' })
  const from = await looks()
  await until('two more reconciles', async () => (await looks()) >= from + 2, 60_000)
  expect(suspended()).toEqual([])
  interface Event extends KubeObject {
    readonly reason: string
    readonly note: string
  }
  const events = await setting.list<Event>(resources.events)
  const held = events.find(({ reason, note }) => reason === 'DeletionHeld' && note.startsWith('7 of 8'))
  expect(held?.note).toContain('allow-mass-deletion="7 apikeys"')
  await until('a condition', async () => {
    const key = await setting.get<ApiKeyObject>(resources.apikeys, 'key-0')
    return key?.status?.conditions?.some(({ type }) => type === 'DeletionHeld')
  })
}, 120_000)

test('the keys of restored ApiKeys keep their secrets', async () => {
  const secret = await setting.secret('key-1')
  await setting.applyKey('key-1')
  await setting.reason(resources.apikeys, 'key-1', 'Active')
  expect(await setting.secret('key-1')).toBe(secret)
  expect(setting.opens(secret)).toBe('key-1')
})

test('an annotation that permits their number removes them', async () => {
  await until('six to be held', async () => (await heldOf('apikeys')) === 6, 40_000)
  const lease = setting.path(resources.leases, 'fxd-operator')
  const allow = { 'marketdata.fxd.dev/allow-mass-deletion': '6 apikeys' }
  await setting.admin.patch(lease, { metadata: { annotations: allow } })
  await until('the keys to be suspended', () => suspended().length === 6, 60_000)
  expect(suspended().toSorted()).toEqual(names.slice(2))
  await until(
    'the condition to go',
    async () => {
      const key = await setting.get<ApiKeyObject>(resources.apikeys, 'key-0')
      return key?.status?.conditions?.every(({ type }) => type !== 'DeletionHeld')
    },
    40_000,
  )
}, 120_000)
