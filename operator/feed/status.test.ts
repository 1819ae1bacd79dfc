import { expect, test } from 'vitest'
import { utcMs } from '../../services/core/clocks/feed-clock.ts'
import type { FeedObject } from '../kube/resources.ts'
import { feedStatusOf } from './status.ts'

const feed = {
  metadata: { name: 'zero', generation: 1 },
  spec: { broker: 'BROKERA', account: 'ZERO', source: { type: 'Simulator' } },
} as unknown as FeedObject

test.for([
  ['one collector', 1, 1, 'The feed is registered and its collector runs.'],
  ['a collector and its standby', 2, 2, 'The feed is registered and its collector runs.'],
  ['one of two collectors', 1, 2, 'The feed is registered; 1 of 2 collectors are ready.'],
] as const)(
  'a feed with %s ready is ready, and its message says if one is missing',
  ([, ready, wanted, message]) => {
    const status = { replicas: wanted, updatedReplicas: wanted, readyReplicas: ready }
    const { conditions } = feedStatusOf({
      feed,
      registered: undefined,
      isOutdated: false,
      stores: undefined,
      collectors: { metadata: { name: 'zero-collector' }, spec: { replicas: wanted }, status },
      addresses: [],
      tokenExpires: undefined,
      blocked: undefined,
      held: 0,
      nowMs: utcMs(0),
    })
    expect(conditions).toMatchObject([{ type: 'Ready', status: 'True', reason: 'Collecting', message }])
  },
)

test('a Terminal feed shows its addresses, and its message names them and the Secret of the token', () => {
  const status = { replicas: 1, updatedReplicas: 1, readyReplicas: 1 }
  const address = 'https://t.example.org/zero/0'
  const shown = feedStatusOf({
    feed: { ...feed, spec: { ...feed.spec, source: { type: 'Terminal' } } },
    registered: undefined,
    isOutdated: false,
    stores: undefined,
    collectors: { metadata: { name: 'zero-collector' }, spec: { replicas: 1 }, status },
    addresses: [address],
    tokenExpires: undefined,
    blocked: undefined,
    held: 0,
    nowMs: utcMs(0),
  })
  expect(shown.addresses).toEqual([address])
  const message = `A terminal posts to ${address} with the token in the Secret zero-terminal.`
  expect(shown.conditions?.[0]?.message).toContain(message)
})
