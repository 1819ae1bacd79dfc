import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { resources } from '../../../operator/kube/resources.ts'
import { kinds, type Schema } from './support/kinds.ts'
import { openSetting, type Setting } from './support/setting.ts'

let setting: Setting
beforeAll(async () => void (setting = await openSetting(inject('apiServer'))))
afterAll(() => setting?.close())

const feed = (name: string, spec: object) => () => setting.applyFeed(name, spec)
const key = (name: string, spec: object) => () => setting.applyKey(name, spec)
const pool = (name: string, spec: object) => () => setting.applyPool(name, { template: {}, ...spec })

const refusals: string[] = []

/** The error of the API server. */
async function refusal(apply: () => Promise<unknown>): Promise<string> {
  const said = await apply().then(
    () => 'accepted',
    (cause: unknown) => (cause as Error).message,
  )
  refusals.push(said)
  return said
}

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
    'a Terminal with a standby and a rotated token',
    () => feed('terminal', { source: { type: 'Terminal' }, collector: { replicas: 2, tokenIssue: 2 } }),
  ],
  ['an earliest date', () => feed('from-2000', { earliest: '2000-01-01' })],
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
    'a depth of a resolution that the feed lacks',
    () => feed('lacks', { depth: { '5': '90d' } }),
    "depth names one of the feed's own resolutions",
  ],
  [
    'a depth of 30',
    () => feed('depth-30', { resolutions: ['1', '30'], depth: { '30': '90d' } }),
    "depth names one of the feed's own resolutions",
  ],
  [
    'a retention of a resolution that the feed lacks',
    () => feed('lacks', { retention: { '5': '365d' } }),
    "retention names one of the feed's own resolutions",
  ],
  [
    'a retention of 30',
    () => feed('kept-30', { resolutions: ['1', '30'], retention: { '30': '365d' } }),
    "retention names one of the feed's own resolutions",
  ],
  [
    'a date as a retention',
    () => feed('date', { retention: { '1': '2024-01-01' } }),
    'write a duration such as 365d',
  ],
  [
    'a duration as the earliest date',
    () => feed('earliest', { earliest: '365d' }),
    'write a date in quotes such as "2000-01-01"',
  ],
  [
    'the exchange of a share as a suffix',
    () => feed('suffix', { symbols: { suffixes: ['_CFD.US'] } }),
    'part of the identity and no suffix',
  ],
  [
    'a seed of a Push feed',
    () => feed('seed', { source: { type: 'Push', seed: 1 } }),
    'seed goes with type Simulator',
  ],
  [
    'a Simulator that follows',
    () => feed('follow', { source: { type: 'Simulator', follow: true } }),
    'follow and volumeClaim go with type Mt5Csv',
  ],
  [
    'a volume of a Push feed',
    () => feed('volume', { source: { type: 'Push', volumeClaim: 'data' } }),
    'follow and volumeClaim go with type Mt5Csv',
  ],
  [
    'mid prices of a Terminal',
    () => feed('mid', { source: { type: 'Terminal' }, quoteBasis: 'Mid' }),
    'a terminal has bid bars: quoteBasis is Bid with source Terminal',
  ],
  [
    'a Terminal whose name begins with a digit',
    () => feed('0', { source: { type: 'Terminal' } }),
    'metadata.name of a feed with source Terminal begins with a letter',
  ],
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
    'an end in words',
    () => key('end', { expires: '31 January 2027' }),
    'write a date in quotes such as "2027-01-31"',
  ],
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
  ['a pool with a long name', () => pool('x'.repeat(41), {}), 'metadata.name has at most 40'],
  ['a pool whose name has a dot', () => pool('a.b', {}), 'metadata.name has at most 40'],
  [
    'a pool whose minimum is above its maximum',
    () => pool('bounds', { autoscale: { minReplicas: 5, maxReplicas: 4 } }),
    'minReplicas must be at most maxReplicas',
  ],
] as const)('the API server rejects %s and names the valid form', async ([, apply, message]) => {
  expect(await refusal(apply())).toContain(message)
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
  [
    'revoked back',
    () => key('final', { revoked: true }),
    () => key('final', { revoked: false }),
    'revoked is final',
  ],
  ['revoked to nothing', () => key('final', { revoked: true }), () => key('final', {}), 'revoked is final'],
  [
    'a made secret to a given one',
    () => key('made', {}),
    () => key('made', { keyFrom: { secretKeyRef: { name: 'ours', key: 'key' } } }),
    'keyFrom cannot be added or taken away',
  ],
  [
    'a given secret to a made one',
    () => key('given', { keyFrom: { secretKeyRef: { name: 'ours', key: 'key' } } }),
    () => key('given', {}),
    'keyFrom cannot be added or taken away',
  ],
  [
    'the issue of a token back',
    () => feed('rotated', { source: { type: 'Terminal' }, collector: { tokenIssue: 2 } }),
    () => feed('rotated', { source: { type: 'Terminal' }, collector: { tokenIssue: 1 } }),
    'tokenIssue only grows',
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
  expect(await refusal(second())).toContain(message)
})

test('every rule of the kinds rejected an object above', () => {
  const messagesOf = (schema: Schema): string[] => [
    ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
    ...[...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties].flatMap(
      (each) => (each === undefined ? [] : messagesOf(each)),
    ),
  ]
  for (const { spec } of kinds()) {
    const { kind } = spec.names
    const said = refusals.filter((text) => text.startsWith(`${kind}.`))
    const messages = spec.versions.flatMap(({ schema }) => messagesOf(schema.openAPIV3Schema))
    expect(messages.length, kind).toBeGreaterThan(1)
    const unproven = messages.filter((message) => !said.some((text) => text.includes(message)))
    expect(unproven, kind).toEqual([])
  }
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
