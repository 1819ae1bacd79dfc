import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { resources } from '../../../operator/kube/resources.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => void (setting = await openSetting(inject('apiServer'))))
afterAll(() => setting?.close())

const feed = (name: string, spec: object) => () => setting.applyFeed(name, spec)
const key = (name: string, spec: object) => () => setting.applyKey(name, spec)
const pool = (name: string, spec: object) => () => setting.applyPool(name, { template: {}, ...spec })

test.for([
  [
    'a Simulator with two collectors',
    () =>
      feed('sim', { source: { type: 'Simulator' }, collector: { replicas: 2, storage: { size: '5Gi' } } }),
  ],
  [
    'a followed folder on a volume',
    () => feed('csv', { source: { type: 'Mt5Csv', path: 'exports', follow: true, volumeClaim: 'data' } }),
  ],
  ['a fixed clock', () => feed('clock', { clock: { mode: 'Fixed', offsetSeconds: -10_800 } })],
  [
    'depth and retention',
    () => feed('depth', { depth: { '1': '90d', '60': '2020-01-01' }, retention: { '1': '365d' } }),
  ],
  [
    'an enterprise key with all limits',
    () =>
      key('enterprise', { plan: 'enterprise', limits: { rpm: 1, rpd: 1, wsConnections: 0, wsSymbols: 0 } }),
  ],
  [
    'a key with addresses and an end',
    () => key('limited', { allowIps: ['10.0.0.0/8', '2001:db8::1'], expires: '2099-01-31' }),
  ],
  ['a pool with an autoscaler', () => pool('auto', { autoscale: { maxReplicas: 4 } })],
] as const)('the API server accepts %s', async ([, apply]) => {
  expect((await apply()()).metadata.uid).toBeDefined()
})

test.for([
  ['a name with a dot', () => feed('a.b', {}), 'metadata.name has at most 40'],
  ['a long name', () => feed('x'.repeat(41), {}), 'metadata.name has at most 40'],
  ['a small broker', () => feed('small', { broker: 'brokera' }), 'spec.broker'],
  ['30 without 1', () => feed('thirty', { resolutions: ['30'] }), '"30" needs "1"'],
  [
    'an offset of a clock in UTC',
    () => feed('offset', { clock: { mode: 'UTC', offsetSeconds: 0 } }),
    'offsetSeconds goes with mode Fixed',
  ],
  [
    'a path of a Simulator',
    () => feed('path', { source: { type: 'Simulator', path: 'x' } }),
    'path goes with type Mt5Csv',
  ],
  [
    'an Mt5Csv without a path',
    () => feed('csv-2', { source: { type: 'Mt5Csv' } }),
    'path goes with type Mt5Csv',
  ],
  ['a depth in words', () => feed('words', { depth: { '1': 'a year' } }), 'write a duration such as 90d'],
  [
    'three collectors',
    () => feed('three', { source: { type: 'Simulator' }, collector: { replicas: 3 } }),
    'spec.collector.replicas',
  ],
  [
    'an enterprise key without limits',
    () => key('none', { plan: 'enterprise' }),
    'plan enterprise needs all four limits',
  ],
  [
    'an address that is none',
    () => key('address', { allowIps: ['300.1.1.1'] }),
    'write an address or a CIDR block',
  ],
  ['an overlap in words', () => key('overlap', { overlap: 'a day' }), 'write a duration such as 0s'],
  [
    'a delivery into the Secret of the digest',
    () => key('digest', { delivery: { secretName: 'digest-digest' } }),
    'delivery.secretName cannot be the name of the ApiKey and -digest',
  ],
  [
    'a delivery that ends at once',
    () => key('at-once', { delivery: { deleteAfter: '00s' } }),
    'write Never or a duration such as 1h, more than zero',
  ],
  ['a key with a long name', () => key('x'.repeat(64), {}), 'metadata.name has at most 63'],
  [
    'a pool whose minimum is above its maximum',
    () => pool('bounds', { autoscale: { minReplicas: 5, maxReplicas: 4 } }),
    'minReplicas must be at most maxReplicas',
  ],
] as const)('the API server rejects %s and names the valid form', async ([, apply, message]) => {
  await expect(apply()()).rejects.toThrow(message)
})

test.for([
  [
    'the account of a Feed',
    () => feed('fixed', {}),
    () => feed('fixed', { account: 'OTHER' }),
    'broker and account cannot change',
  ],
  [
    'the buckets of a Feed',
    () => feed('fixed', {}),
    () => feed('fixed', { storage: { buckets: 16 } }),
    'storage.buckets cannot change',
  ],
  [
    'the spool of a collector',
    () => feed('spool', { source: { type: 'Simulator' }, collector: { storage: { size: '1Gi' } } }),
    () => feed('spool', { source: { type: 'Simulator' }, collector: { storage: { size: '2Gi' } } }),
    'collector.storage cannot change',
  ],
  ['an issue back', () => key('issue', { issue: 3 }), () => key('issue', { issue: 2 }), 'issue only grows'],
  [
    'the place of a delivery',
    () => key('place', {}),
    () => key('place', { delivery: { secretName: 'b' } }),
    'delivery.secretName cannot change',
  ],
] as const)('the API server rejects a change of %s', async ([, first, second, message]) => {
  await first()()
  await expect(second()()).rejects.toThrow(message)
})

test('an object without a status from the operator is not ready, so that helm waits', async () => {
  for (const [of, object] of [
    [resources.feeds, await feed('fresh', {})()],
    [resources.apikeys, await key('fresh', {})()],
    [resources.streampools, await pool('fresh', {})()],
  ] as const) {
    expect(object.status?.observedGeneration, of.plural).toBe(0)
    expect(object.status?.conditions, of.plural).toMatchObject([
      { type: 'Ready', status: 'Unknown', reason: 'Pending' },
    ])
  }
})
