import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import type { Delivered } from '../../../services/ports/bus.ts'
import type { Clock } from '../../../services/ports/clock.ts'
import { leaseMs } from '../../../services/ports/lease.ts'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import {
  advanceWithinReach,
  freshPrefix,
  type OpenedRedis,
  openInTest,
  timeOfTests,
} from '../../support/redis/stores.ts'
import { freshFeed, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const longTimeout = { timeout: 15_000 }
/** The bus reports a loss within three seconds; a busy machine may need longer. */
const lossTimeout = { timeout: 6_000 }
const today = '2026-01-05'
const rates = { rpm: 5, rpd: 10 }

let server: RedisServer
beforeEach(async () => {
  server = await startRedis()
})
afterEach(() => server.stop())

const waitUntilBack = async (opened: OpenedRedis): Promise<void> => {
  await vi.waitFor(async () => expect(await opened.up()).toBe(true), longTimeout)
}

/** Two causes of a loss of all data: a command, and a restart. */
const emptied = [
  ['emptied', async () => void (await server.command('FLUSHALL'))],
  [
    'restarted empty',
    async (opened: OpenedRedis) => {
      await server.kill()
      await vi.waitUntil(async () => (await opened.metric('fxd_redis_up')) === 0, longTimeout)
      await server.start()
      await waitUntilBack(opened)
    },
  ],
] as const

describe.each(emptied)('a Redis that was %s', (_, empty) => {
  test('restarts counters and windows from zero, and no request fails', async () => {
    const pod = await openInTest(server, { time: timeOfTests() })
    const { limits } = pod.stores
    for (const outcome of ['admitted', 'admitted', 'admitted', 'admitted', 'admitted', 'refused'])
      expect(await limits.admit('key', rates, 'status')).toMatchObject({ outcome })
    await empty(pod)
    expect(await limits.admit('key', rates, 'status')).toMatchObject({
      outcome: 'admitted',
      state: { remainingMinute: 4, remainingDay: 9 },
    })
    expect((await limits.usage('key', today, today)).get(today)).toMatchObject({ requests: 1 })
  })

  test('opens no new slot before running shards could take their slots again, so that the cap holds', async () => {
    const time = timeOfTests()
    const prefix = freshPrefix()
    const [shard, other] = await Promise.all([
      openInTest(server, { prefix, time }),
      openInTest(server, { prefix, time }),
    ])
    await advanceWithinReach(shard.stores.slots, time, slotHoldMs)
    for (const session of ['a', 'b'])
      expect(await shard.stores.slots.open('key', session, 3)).toMatchObject({ outcome: 'open' })
    await empty(shard)
    await waitUntilBack(other)
    const openNew = () => other.stores.slots.open('key', 'new', 3)
    const refused = (retryAfterSeconds: number) =>
      expect(openNew()).rejects.toThrow(expect.objectContaining({ dependency: 'Redis', retryAfterSeconds }))
    await refused(25)
    await advanceWithinReach(other.stores.slots, time, slotHoldMs - 1)
    await refused(1)
    const renewals = ['a', 'b'].map((sessionId) => ({ keyId: 'key', sessionId }))
    expect(await shard.stores.slots.renew(renewals)).toEqual(['a', 'b'])
    for (const session of ['a', 'b'])
      expect(await shard.stores.slots.open('key', session, 3, today)).toMatchObject({ outcome: 'open' })
    await time.advance(1)
    expect(await openNew()).toEqual({ outcome: 'open', inUse: 3 })
    expect(await other.stores.slots.open('key', 'one too many', 3)).toEqual({ outcome: 'full', inUse: 3 })
  })

  test('leaves a lease with its holder, and grants a greater epoch to the next holder', async () => {
    const pod = await openInTest(server)
    const { leases } = pod.stores
    const first = await leases.acquire('feed', 'a')
    await empty(pod)
    expect(await leases.renew('feed', 'a')).toBe(true)
    expect(await leases.acquire('feed', 'b')).toBeUndefined()
    await empty(pod)
    const second = await leases.acquire('feed', 'b')
    expect(second?.epoch).toBeGreaterThan(first!.epoch)
    expect(await leases.renew('feed', 'a')).toBe(false)
  })

  test('restored to an older state grants a holder a greater epoch than all its earlier epochs', async () => {
    const prefix = freshPrefix()
    const { leases } = (await openInTest(server, { prefix })).stores
    const key = `${prefix}lease:feed`
    await leases.acquire('feed', 'a')
    await server.command(`COPY ${key} ${key}:older`)
    await leases.release('feed', 'a')
    const second = await leases.acquire('feed', 'a')
    await server.command(`COPY ${key}:older ${key} REPLACE`)
    const third = await leases.acquire('feed', 'a')
    expect(third?.epoch).toBeGreaterThan(second!.epoch)
    expect(await leases.acquire('feed', 'a')).toEqual(third)
  })

  test('leaves a lease with the later of two holders, although the frozen earlier holder renews first', async () => {
    const prefix = freshPrefix()
    const time = timeOfTests()
    const [pod, other] = await Promise.all([
      openInTest(server, { prefix, time }),
      openInTest(server, { prefix, time }),
    ])
    const [earlier, later] = [pod.stores.leases, other.stores.leases]
    await earlier.acquire('feed', 'a')
    await time.advance(leaseMs)
    const granted = await later.acquire('feed', 'b')
    await empty(pod)
    await waitUntilBack(other)
    expect(await earlier.renew('feed', 'a')).toBe(true)
    expect(await later.renew('feed', 'b')).toBe(true)
    expect(await earlier.renew('feed', 'a')).toBe(false)
    expect(await later.renew('feed', 'b')).toBe(true)
    expect(await later.acquire('feed', 'b')).toEqual(granted)
  })

  test('accepts a note of a feed like a first note, with any value', async () => {
    const pod = await openInTest(server)
    const feed = freshFeed()
    await pod.stores.board.note(feed, { receivedAt: utcMs(9) })
    await empty(pod)
    expect(await pod.stores.board.read([feed])).toEqual(new Map())
    await pod.stores.board.note(feed, { receivedAt: utcMs(7) })
    expect((await pod.stores.board.read([feed])).get(feed)?.receivedAt).toBe(7)
  })

  test('is reported to followers of the bus as a loss before the next event, and later events follow', async () => {
    const pod = await openInTest(server)
    const { bus } = pod.stores
    const [feed, silent] = [freshFeed(), freshFeed()]
    const got: Delivered[] = []
    const lost = new Map<string, number>()
    bus.follow({
      deliver: (delivered) => void got.push(delivered),
      lost: (of, upTo) => void lost.set(of, upTo),
    })
    const bar = (minute: number) => {
      const { symbol, resolution } = seriesOf('EURUSD', '1', feed)
      return { type: 'bars' as const, feed, bars: [{ symbol, resolution, bar: minuteBar(minute) }] }
    }
    for (const event of [bar(1), bar(2), { type: 'settled' as const, feed: silent }])
      await bus.publish(event, 1)
    await vi.waitFor(() => expect(got).toHaveLength(3), longTimeout)
    expect(lost.size).toBe(0)
    const newest = Math.max(...got.map(({ position }) => position))
    await empty(pod)
    await vi.waitFor(
      () => expect([...lost.keys()].toSorted()).toEqual([feed, silent].toSorted()),
      lossTimeout,
    )
    expect(lost.get(feed)).toBeGreaterThanOrEqual(newest)
    const upTo = lost.get(feed)!
    expect(await bus.publish(bar(3), 1)).toEqual({ outcome: 'published', position: upTo + 1 })
    await vi.waitFor(() => expect(got).toHaveLength(4), longTimeout)
    expect(got[3]).toEqual({ position: upTo + 1, event: bar(3) })
  })

  test('gives an event that is published at once a greater position than all lost events', async () => {
    const pod = await openInTest(server)
    const { bus } = pod.stores
    const feed = freshFeed()
    const calls: string[] = []
    let last = 0
    bus.follow({
      deliver({ position }) {
        expect(position).toBeGreaterThan(last)
        last = position
        calls.push('event')
      },
      lost: () => void calls.push('lost'),
    })
    const settled = { type: 'settled' as const, feed }
    const first = await bus.publish(settled, 1)
    await vi.waitFor(() => expect(calls).toEqual(['event']), longTimeout)
    await empty(pod)
    const second = await bus.publish(settled, 1)
    expect((second as { position: number }).position).toBeGreaterThan(
      (first as { position: number }).position,
    )
    await vi.waitFor(() => expect(calls).toEqual(['event', 'lost', 'event']), longTimeout)
  })
})

test.each([
  ['without new events', 0],
  ['with two new events before a follower reads', 2],
])(
  'a bus that was emptied and whose clock was set back, %s, is reported as lost, and later events follow',
  async (_, early) => {
    const time = timeOfTests()
    let aheadMs = 3_600_000
    const clock = { ...time, utcMs: () => utcMs(time.utcMs() + aheadMs) }
    const prefix = freshPrefix()
    const [one, other] = await Promise.all([
      openInTest(server, { prefix, time: clock }),
      openInTest(server, { prefix, time: clock }),
    ])
    const feed = freshFeed()
    const settled = { type: 'settled' as const, feed }
    const readers = [one, other].map(({ stores }) => {
      const reader = { calls: [] as ('event' | 'lost')[], last: 0 }
      const note = (what: 'event' | 'lost', position: number): void => {
        expect(position).toBeGreaterThan(reader.last)
        reader.last = position
        reader.calls.push(what)
      }
      stores.bus.follow({
        deliver: ({ position }) => note('event', position),
        lost: (_feed, upTo) => note('lost', upTo),
      })
      return reader
    })
    const publish = async (): Promise<number> => {
      const published = await one.stores.bus.publish(settled, 1)
      return published.outcome === 'published' ? published.position : 0
    }
    // Wait until both follow.
    await vi.waitFor(async () => {
      const position = await publish()
      await vi.waitFor(() => expect(readers.map(({ last }) => last)).toEqual([position, position]))
    }, longTimeout)
    aheadMs = 0
    await server.command('FLUSHALL')
    for (let i = 0; i < early; i++) await publish()
    for (const { calls } of readers) await vi.waitFor(() => expect(calls.at(-1)).toBe('lost'), lossTimeout)
    for (const { calls } of readers) calls.length = 0
    await publish()
    for (const { calls } of readers) await vi.waitFor(() => expect(calls).toEqual(['event']), longTimeout)
  },
)

test('after a failover to a Redis whose clock is behind, new positions are greater than the lost ones', async () => {
  const prefix = freshPrefix()
  const ahead = { ...timeOfTests(), utcMs: () => utcMs(timeOfTests().utcMs() + 3_600_000) }
  const feed = freshFeed()
  const publish = async (time: Clock): Promise<number> => {
    const { stores } = await openInTest(server, { prefix, time })
    const published = await stores.bus.publish({ type: 'settled', feed }, 1)
    if (published.outcome !== 'published') throw new Error(`not published: ${published.outcome}`)
    return published.position
  }
  const last = await publish(ahead)
  // The data is of another server process.
  await server.command(`HSET ${prefix}{bus}:life run another`)
  const lostMax = 100_000
  expect(await publish(timeOfTests())).toBeGreaterThan(last + lostMax)
})

test('a lane of the bus stores at most half an hour of events and 64 MiB', async () => {
  const time = timeOfTests()
  const prefix = freshPrefix()
  const { bus } = (await openInTest(server, { prefix, time })).stores
  const feed = freshFeed()
  const { symbol } = seriesOf('X'.repeat(1_000_000), '1', feed)
  const large = {
    type: 'bars' as const,
    feed,
    bars: [{ symbol, resolution: '1' as const, bar: minuteBar(1) }],
  }
  const length = async () => Number((await server.command(`XLEN ${prefix}{bus}:lane:${feed}`)).slice(1))
  for (let i = 0; i < 80; i++) await bus.publish(large, 1)
  expect(await length()).toBeGreaterThan(60)
  expect((await length()) * 1_000_000).toBeLessThanOrEqual(64 * 1024 * 1024)
  await time.advance(30 * 60_000 + 1)
  await bus.publish({ type: 'settled', feed }, 1)
  await bus.publish({ type: 'settled', feed }, 1)
  await bus.publish({ type: 'settled', feed }, 1)
  expect(await length()).toBe(3)
})
