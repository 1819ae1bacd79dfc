import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { utcMs } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import type { Delivered } from '../../../services/ports/bus.ts'
import { leaseMs } from '../../../services/ports/lease.ts'
import { slotHoldMs } from '../../../services/stores/redis/slots.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import {
  advanceWithinReach,
  freshPrefix,
  type OpenedRedis,
  openInTest,
  timeOfTests,
} from '../../support/redis/stores.ts'
import { freshFeed, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const patience = { timeout: 15_000 }
/** The bus tells within three seconds; a busy machine may need longer. */
const noticed = { timeout: 6_000 }
const today = '2026-01-05'
const rates = { rpm: 5, rpd: 10 }

let server: RedisServer
beforeEach(async () => {
  server = await startRedis()
})
afterEach(() => server.stop())

const back = async (opened: OpenedRedis): Promise<void> => {
  await vi.waitFor(async () => expect(await opened.up()).toBe(true), patience)
}

/** Two ways to lose everything: by a command, and with the process. */
const emptied = [
  ['emptied', async () => void (await server.command('FLUSHALL'))],
  [
    'restarted empty',
    async (opened: OpenedRedis) => {
      await server.kill()
      await vi.waitUntil(async () => (await opened.metric('fxd_redis_up')) === 0, patience)
      await server.start()
      await back(opened)
    },
  ],
] as const

describe.each(emptied)('a Redis that was %s', (_, empty) => {
  test('begins the counters and windows again, and nothing fails', async () => {
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

  test('opens no new slot until live shards had time to take theirs again, so that the cap holds', async () => {
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
    await back(other)
    const openNew = () => other.stores.slots.open('key', 'new', 3)
    await expect(openNew()).rejects.toThrow(Unavailable)
    await advanceWithinReach(other.stores.slots, time, slotHoldMs - 1)
    await expect(openNew()).rejects.toThrow(Unavailable)
    const held = ['a', 'b'].map((sessionId) => ({ keyId: 'key', sessionId }))
    expect(await shard.stores.slots.renew(held)).toEqual(['a', 'b'])
    for (const session of ['a', 'b'])
      expect(await shard.stores.slots.open('key', session, 3, today)).toMatchObject({ outcome: 'open' })
    await time.advance(1)
    expect(await openNew()).toEqual({ outcome: 'open', inUse: 3 })
    expect(await other.stores.slots.open('key', 'one too many', 3)).toEqual({ outcome: 'full', inUse: 3 })
  })

  test('leaves a lease with its holder, and the next epoch is greater', async () => {
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

  test('brought back to an older state grants a holder an epoch greater than those it had since', async () => {
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

  test('gives the lead to the later of two holders, though the earlier one, which stood still, renews first', async () => {
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
    await back(other)
    expect(await earlier.renew('feed', 'a')).toBe(true)
    expect(await later.renew('feed', 'b')).toBe(true)
    expect(await earlier.renew('feed', 'a')).toBe(false)
    expect(await later.renew('feed', 'b')).toBe(true)
    expect(await later.acquire('feed', 'b')).toEqual(granted)
  })

  test('takes a feed sign as a first one', async () => {
    const pod = await openInTest(server)
    const feed = freshFeed()
    await pod.stores.board.note(feed, { receivedAt: utcMs(9) })
    await empty(pod)
    expect(await pod.stores.board.read([feed])).toEqual(new Map())
    await pod.stores.board.note(feed, { receivedAt: utcMs(7) })
    expect((await pod.stores.board.read([feed])).get(feed)?.receivedAt).toBe(7)
  })

  test('is told to followers of the bus without waiting for the next event, and what comes follows after it', async () => {
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
    await vi.waitFor(() => expect(got).toHaveLength(3), patience)
    expect(lost.size).toBe(0)
    const newest = Math.max(...got.map(({ position }) => position))
    await empty(pod)
    await vi.waitFor(() => expect([...lost.keys()].toSorted()).toEqual([feed, silent].toSorted()), noticed)
    expect(lost.get(feed)).toBeGreaterThanOrEqual(newest)
    const upTo = lost.get(feed)!
    expect(await bus.publish(bar(3), 1)).toEqual({ outcome: 'published', position: upTo + 1 })
    await vi.waitFor(() => expect(got).toHaveLength(4), patience)
    expect(got[3]).toEqual({ position: upTo + 1, event: bar(3) })
  })

  test('gives an event that comes at once a position after all that may be lost', async () => {
    const pod = await openInTest(server)
    const { bus } = pod.stores
    const feed = freshFeed()
    const told: string[] = []
    let last = 0
    bus.follow({
      deliver({ position }) {
        expect(position).toBeGreaterThan(last)
        last = position
        told.push('event')
      },
      lost: () => void told.push('lost'),
    })
    const settled = { type: 'settled' as const, feed }
    const first = await bus.publish(settled, 1)
    await vi.waitFor(() => expect(told).toEqual(['event']), patience)
    await empty(pod)
    const second = await bus.publish(settled, 1)
    expect((second as { position: number }).position).toBeGreaterThan(
      (first as { position: number }).position,
    )
    await vi.waitFor(() => expect(told).toEqual(['event', 'lost', 'event']), patience)
  })
})

test.each([
  ['with nothing new on it', 0],
  ['published to before anybody looked', 2],
])(
  'a bus that was emptied while its clock was set back an hour, %s, is told as lost, and what comes follows after it',
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
      const reader = { told: [] as ('event' | 'lost')[], last: 0 }
      const tell = (what: 'event' | 'lost', position: number): void => {
        expect(position).toBeGreaterThan(reader.last)
        reader.last = position
        reader.told.push(what)
      }
      stores.bus.follow({
        deliver: ({ position }) => tell('event', position),
        lost: (_feed, upTo) => tell('lost', upTo),
      })
      return reader
    })
    const publish = async (): Promise<number> => {
      const published = await one.stores.bus.publish(settled, 1)
      return published.outcome === 'published' ? published.position : 0
    }
    // Once both have begun to follow.
    await vi.waitFor(async () => {
      const position = await publish()
      await vi.waitFor(() => expect(readers.map(({ last }) => last)).toEqual([position, position]))
    }, patience)
    aheadMs = 0
    await server.command('FLUSHALL')
    for (let i = 0; i < early; i++) await publish()
    for (const { told } of readers) await vi.waitFor(() => expect(told.at(-1)).toBe('lost'), noticed)
    for (const { told } of readers) told.length = 0
    await publish()
    for (const { told } of readers) await vi.waitFor(() => expect(told).toEqual(['event']), patience)
  },
)

test('a lane keeps half an hour of events, and a bounded number of bytes', async () => {
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
