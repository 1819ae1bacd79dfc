import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { Unavailable } from '../../../services/core/failure.ts'
import type { FeedKey } from '../../../services/core/feeds/compound-key.ts'
import { noCounters } from '../../../services/core/keys/usage.ts'
import { createLog } from '../../../services/platform/log/log.ts'
import { openProxy } from '../../support/redis/proxy.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { freshPrefix, isBack, type OpenedRedis, openInTest, timeOfTests } from '../../support/redis/stores.ts'
import { freshFeed, minuteBar, seriesOf } from '../suites/sample-bars.ts'

const longTimeout = { timeout: 15_000 }
const today = '2026-01-05'

let server: RedisServer
beforeEach(async () => {
  server = await startRedis()
})
afterEach(() => server.stop())

async function killed(): Promise<void> {
  await server.kill()
}

describe('limits while Redis is unavailable', () => {
  const rates = { rpm: 40, rpd: 1_000 }

  test('a request whose Redis reply was lost is decided by share, and is not sent to Redis again', async () => {
    const time = timeOfTests()
    const prefix = freshPrefix()
    const direct = await openInTest(server, { prefix, time })
    const proxy = await openProxy(server)
    onTestFinished(() => proxy.close())
    const pod = await openInTest(proxy, { prefix, time })
    const admit = () => pod.stores.limits.admit('key', rates, 'status')
    await admit()
    proxy.swallowReplies()
    expect(await Promise.all([admit(), admit()])).toMatchObject([
      { outcome: 'admitted' },
      { outcome: 'admitted' },
    ])
    expect(await pod.metric('fxd_redis_unknown_outcomes_total')).toBeGreaterThanOrEqual(2)
    proxy.cut()
    await isBack(pod)
    await admit()
    const usage = await direct.stores.limits.usage('key', today, today)
    expect(usage.get(today)).toEqual({ ...noCounters, requests: 4, status: 4 })
  })

  test('while a primary without replicas refuses writes (min-replicas-to-write), requests are decided by share and counted later', async () => {
    const pod = await openInTest(server, { time: timeOfTests() })
    const admit = () => pod.stores.limits.admit('key', rates, 'status')
    await admit()
    await server.command('CONFIG SET min-replicas-to-write 1')
    expect(await admit()).toMatchObject({ outcome: 'admitted' })
    await expect(pod.stores.slots.open('key', 'a', 1)).rejects.toThrow(Unavailable)
    expect(await pod.metric('fxd_limits_by_share_total')).toBe(1)
    expect(await pod.metric('fxd_redis_unknown_outcomes_total')).toBe(0)
    await server.command('CONFIG SET min-replicas-to-write 0')
    await admit()
    await vi.waitFor(async () => {
      const usage = await pod.stores.limits.usage('key', today, today)
      expect(usage.get(today)).toEqual({ ...noCounters, requests: 3, status: 3 })
    }, longTimeout)
  })

  test('a frozen Redis delays one request by its deadline, and later requests not at all', async () => {
    const pod = await openInTest(server)
    const admit = () => pod.stores.limits.admit('key', rates, 'status')
    await admit()
    await server.freeze()
    onTestFinished(() => server.thaw())
    expect(await admit()).toMatchObject({ outcome: 'admitted' })
    const startedAt = performance.now()
    for (let i = 0; i < 20; i++) await admit()
    // If each request waited for its own deadline, the loop would take at least ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(9_000)
    await expect(pod.stores.board.ping()).rejects.toThrow(Unavailable)
    server.thaw()
    await isBack(pod)
  })

  test('after SCRIPT FLUSH the scripts are loaded again, and each request counts once', async () => {
    const pod = await openInTest(server, { time: timeOfTests() })
    const admit = () => pod.stores.limits.admit('key', rates, 'status')
    await admit()
    await server.command('SCRIPT FLUSH')
    await Promise.all([admit(), admit()])
    expect((await pod.stores.limits.usage('key', today, today)).get(today)?.requests).toBe(3)
    expect(await pod.metric('fxd_redis_unknown_outcomes_total')).toBe(0)
  })
})

test('all calls but those of limits fail as Unavailable during a Redis outage, and succeed after it without a restart', async () => {
  const pod = await openInTest(server, { time: timeOfTests() })
  const { slots, leases, board, bus, limits } = pod.stores
  const feed = freshFeed()
  await killed()
  await vi.waitFor(async () => expect(await pod.metric('fxd_redis_up')).toBe(0), longTimeout)
  for (const call of [
    () => slots.open('key', 'a', 1),
    () => slots.renew([{ keyId: 'key', sessionId: 'a' }]),
    () => slots.close('key', 'a'),
    () => slots.inUse('key'),
    () => leases.acquire('name', 'a'),
    () => leases.renew('name', 'a'),
    () => board.read([feed]),
    () => board.ping(),
    () => bus.publish({ type: 'settled', feed }, 1),
    () => limits.usage('key', today, today),
  ])
    await expect(call()).rejects.toThrow(Unavailable)
  await server.start()
  await isBack(pod)
  await board.ping()
  expect(await leases.acquire('name', 'a')).toBeDefined()
})

test.each([
  ['maxmemory-policy allkeys-lru', /evicts keys when its memory is full .*allkeys-lru.*noeviction/],
])(
  'a Redis with %s is refused at the start with an error that names the right setting',
  async (setting, message) => {
    const wrong = await startRedis({ settings: [setting] })
    onTestFinished(() => wrong.stop())
    await expect(openInTest(wrong)).rejects.toThrow(message)
  },
)

/** Starts a follower while Redis is frozen; resolves once Redis is back. */
async function followLate(pod: OpenedRedis) {
  await server.freeze()
  onTestFinished(() => server.thaw())
  const lost: unknown[] = []
  const got: unknown[] = []
  pod.stores.bus.follow({
    deliver: ({ event }) => void got.push(event),
    lost: (of) => void lost.push(of),
  })
  await vi.waitFor(
    // The call with which the follower begins. Heartbeats use the other connection.
    async () => expect(await pod.metric('fxd_redis_unknown_outcomes_total\\{connection="calls"\\}')).toBe(1),
    longTimeout,
  )
  server.thaw()
  await isBack(pod)
  return { lost, got }
}

test('a follower that starts while Redis is unavailable gets a loss when Redis returns', async () => {
  const pod = await openInTest(server)
  const feed = freshFeed()
  await pod.stores.bus.publish({ type: 'settled', feed }, 1)
  const { lost, got } = await followLate(pod)
  await vi.waitFor(() => expect(lost).toContain(feed), longTimeout)
  const next = { type: 'minutes' as const, feed, from: feedSeconds(0), to: feedSeconds(0) }
  await pod.stores.bus.publish(next, 1)
  await vi.waitFor(() => expect(got).toEqual([next]), longTimeout)
})

/** About 76 kB on the bus. */
const thousandBars = (feed: FeedKey) => {
  const { symbol } = seriesOf('EURUSD', '1', feed)
  const bars = Array.from({ length: 1_000 }, (_, i) => ({
    symbol,
    resolution: '1' as const,
    bar: minuteBar(i),
  }))
  return { type: 'bars' as const, feed, bars }
}

test('a follower that starts while Redis is unavailable reads no earlier events, and removed ones count as no loss', async () => {
  const prefix = freshPrefix()
  const pod = await openInTest(server, { prefix })
  const feed = freshFeed()
  const first = await pod.stores.bus.publish(thousandBars(feed), 1)
  for (let i = 0; i < 30; i++) await pod.stores.bus.publish(thousandBars(feed), 1)
  const { position } = first as { position: number }
  await server.command(`XDEL ${prefix}{bus}:lane:${feed} ${position}-0`)
  const bytesSent = async () =>
    Number(/total_net_output_bytes:(\d+)/.exec(await server.command('INFO stats'))?.[1])
  const before = await bytesSent()
  const { got } = await followLate(pod)
  await vi.waitFor(async () => {
    await pod.stores.bus.publish({ type: 'settled', feed }, 1)
    await vi.waitFor(() => expect(got.length).toBeGreaterThan(0))
  }, longTimeout)
  expect((await bytesSent()) - before).toBeLessThan(1_000_000)
  expect(await pod.metric('fxd_bus_losses_total')).toBe(0)
})

test('a reader that is far behind, on a connection too slow for a full read, gets all events without a loss', async () => {
  const prefix = freshPrefix()
  const direct = await openInTest(server, { prefix })
  const proxy = await openProxy(server)
  onTestFinished(() => proxy.close())
  const pod = await openInTest(proxy, { prefix })
  const feed = freshFeed()
  const got: string[] = []
  pod.stores.bus.follow({
    deliver: ({ event }) => void got.push(event.type),
    lost: () => void got.push('lost'),
  })
  await vi.waitFor(async () => {
    await direct.stores.bus.publish({ type: 'settled', feed }, 1)
    await vi.waitFor(() => expect(got).toContain('settled'))
  }, longTimeout)
  proxy.swallowReplies()
  for (let i = 0; i < 40; i++) await direct.stores.bus.publish(thousandBars(feed), 1)
  proxy.slow(1_000_000)
  proxy.cut()
  const rest = () => got.filter((type) => type !== 'settled')
  await vi.waitFor(() => expect(rest()).toHaveLength(40), { timeout: 20_000 })
  expect(new Set(rest())).toEqual(new Set(['bars']))
})

/** How often clients called this command, carried out or refused. */
async function timesCalled(command: string): Promise<number> {
  const stats = await server.command('INFO commandstats')
  const [, calls = 0, refused = 0] =
    new RegExp(`cmdstat_${command}:calls=(\\d+),.*rejected_calls=(\\d+)`).exec(stats) ?? []
  return Number(calls) + Number(refused)
}

test.each([
  ['writes (min-replicas-to-write)', 'CONFIG SET min-replicas-to-write', '1', '0', []],
  [
    'a command of its reader (ACL)',
    'ACL SETUSER default',
    '-eval',
    '+eval',
    ['bus unavailable: Redis refused a read; events are late; retrying', 'bus available again'],
  ],
])(
  'while Redis refuses %s, the bus keeps its connection, logs at most one line, and delivers afterwards',
  async (_, setting, refusing, accepting, expected) => {
    const lines: string[] = []
    const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg)
    const { bus } = (await openInTest(server, { log: createLog('info', { write }) })).stores
    const settled = { type: 'settled' as const, feed: freshFeed() }
    const got: unknown[] = []
    bus.follow({ deliver: ({ event }) => void got.push(event), lost: () => undefined })
    await bus.publish(settled, 1)
    await vi.waitFor(() => expect(got).toEqual([settled]), longTimeout)
    await server.command(`${setting} ${refusing}`)
    const before = await timesCalled('eval')
    // The reader checks for lost events each second.
    await vi.waitFor(async () => expect(await timesCalled('eval')).toBeGreaterThan(before + 2), longTimeout)
    await server.command(`${setting} ${accepting}`)
    await bus.publish(settled, 1)
    await vi.waitFor(() => expect(got).toEqual([settled, settled]), longTimeout)
    expect(lines.filter((line) => /bus|connection/.test(line))).toEqual(expected)
  },
)
