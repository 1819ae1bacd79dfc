import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { effort } from '../../support/effort.ts'
import { Failovers } from '../../support/redis/failovers.ts'
import { type RedisGroup, startRedisGroup, startSentinel } from '../../support/redis/sentinels.ts'
import { startRedis } from '../../support/redis/server.ts'
import { fastClock, freshPrefix, openInTest } from '../../support/redis/stores.ts'
import { freshFeed } from '../suites/sample-bars.ts'
import { describeRedis } from './suite.ts'

const startMs = 60_000
const longTimeout = { timeout: 20_000 }
const failovers = Math.ceil(effort)
const timeout = 60_000 * (failovers + 1)

let group: RedisGroup
beforeAll(async () => {
  group = await startRedisGroup()
}, startMs)
afterAll(() => group.stop())

const at = () => ({
  url: undefined,
  master: group.master,
  sentinels: group.sentinels.map(({ host, port }) => ({ host, port })),
})

test('Sentinels with a password accept the configured Sentinel password; without it the error contains NOAUTH', {
  timeout: startMs,
}, async () => {
  // A separate server: the Sentinels of the group would count this Sentinel as one of theirs.
  const primary = await startRedis()
  onTestFinished(() => primary.stop())
  const guarded = await startSentinel(primary, ['requirepass s3cret'])
  onTestFinished(() => guarded.stop())
  const guardedAt = { ...at(), sentinels: [{ host: guarded.host, port: guarded.port }] }
  const { stores } = await openInTest({ ...guardedAt, sentinelPassword: 's3cret' })
  expect(await stores.leases.acquire('feed', 'pod')).toBeDefined()
  const refusal = await openInTest(guardedAt).catch((cause: unknown) => cause)
  expect(String((refusal as Error).cause)).toContain('NOAUTH')
})

test('connections come back through the other Sentinels while the first one does not answer', {
  timeout: startMs,
}, async () => {
  const { up } = await openInTest(at())
  const [first] = group.sentinels
  await first?.freeze()
  onTestFinished(() => first?.thaw())
  await (await group.primary()).command('CLIENT KILL TYPE normal')
  await vi.waitFor(async () => expect(await up()).toBe(false), longTimeout)
  await vi.waitFor(async () => expect(await up()).toBe(true), longTimeout)
})

test('a Sentinel that is down puts no text of the library into the log', { timeout: startMs }, async () => {
  const print = vi.spyOn(console, 'error')
  const [, down, other] = group.sentinels
  await down?.kill()
  onTestFinished(() => down?.start())
  await openInTest(at())
  const followers = async (): Promise<number> =>
    (await other?.command('CLIENT LIST TYPE pubsub'))?.match(/cmd=subscribe/g)?.length ?? 0
  await vi.waitFor(async () => expect(await followers()).toBe(3), longTimeout)
  expect(print).not.toHaveBeenCalled()
})

describe('while a replica takes over', () => {
  test('open slots never exceed the cap', { timeout }, async () => {
    const cap = 5
    const speed = 5
    const time = fastClock(speed)
    const prefix = freshPrefix()
    const shards = await Promise.all([1, 2, 3].map(() => openInTest(at(), { prefix, time })))
    const live = new Set<string>()
    let [sessions, most, refused] = [0, 0, 0]
    const working = new Failovers(group, failovers)

    const churn = async ({ stores: { slots } }: (typeof shards)[number]): Promise<void> => {
      const own: string[] = []
      while (!working.isOver) {
        const session = `s${++sessions}`
        const opened = await slots.open('key', session, cap).catch(() => undefined)
        if (opened?.outcome === 'open') {
          own.push(session)
          live.add(session)
          most = Math.max(most, live.size)
        } else {
          refused += 1
          // As an upgrade with an unknown outcome does: it closes the slot, or the slot lapses.
          if (!opened) await slots.close('key', session).catch(() => undefined)
        }
        await systemClock.sleep(20)
        const oldest = own.length > 2 || sessions % 7 === 0 ? own.shift() : undefined
        if (oldest && live.delete(oldest)) await slots.close('key', oldest).catch(() => undefined)
      }
    }
    // One shard renews all sessions: for Redis it does not matter which shard a session belongs to.
    const renew = async ({ stores: { slots } }: (typeof shards)[number]): Promise<void> => {
      while (!working.isOver) {
        const asked = [...live].map((sessionId) => ({ keyId: 'key', sessionId }))
        for (const sessionId of await slots.renew(asked).catch(() => [])) {
          const today = new Date(time.utcMs()).toISOString().slice(0, 10)
          const again = await slots.open('key', sessionId, cap, today).catch(() => undefined)
          if (again?.outcome === 'full') live.delete(sessionId)
          else if (!live.has(sessionId)) await slots.close('key', sessionId).catch(() => undefined)
        }
        await systemClock.sleep(10_000 / speed)
      }
    }
    const [first] = shards
    // After an empty Redis was found, new slots open only after `slotHoldMs`.
    await vi.waitFor(
      () => expect(first!.stores.slots.open('key', 'first', cap)).resolves.toMatchObject({ outcome: 'open' }),
      longTimeout,
    )
    await first!.stores.slots.close('key', 'first')
    await Promise.all([working.run(), renew(first!), ...shards.map(churn)])
    expect(most).toBe(cap)
    expect(refused).toBeGreaterThan(0)
    expect(live.size).toBeLessThanOrEqual(cap)
  })

  test('each granted epoch is greater than all earlier epochs', { timeout }, async () => {
    const prefix = freshPrefix()
    const pods = await Promise.all([1, 2, 3].map(() => openInTest(at(), { prefix })))
    const epochs: number[] = []
    const working = new Failovers(group, failovers)
    const compete = async ({ stores: { leases } }: (typeof pods)[number], holder: string): Promise<void> => {
      let own = 0
      while (!working.isOver) {
        const granted = await leases.acquire('feed', holder).catch(() => undefined)
        // After a lost release this holder still has the lease, with the same epoch.
        if (granted && granted.epoch !== own) epochs.push(granted.epoch)
        if (granted) {
          own = granted.epoch
          await leases.release('feed', holder).catch(() => undefined)
        }
        await systemClock.sleep(5)
      }
    }
    await Promise.all([working.run(), ...pods.map((each, i) => compete(each, `pod ${i}`))])
    for (const [i, epoch] of epochs.entries()) expect(epoch).toBeGreaterThan(epochs[i - 1] ?? 0)
    expect(epochs.length).toBeGreaterThan(20)
  })

  test('followers of the bus get each acknowledged event or a report of its loss', {
    timeout,
  }, async () => {
    const prefix = freshPrefix()
    const [publisher, reader] = await Promise.all([
      openInTest(at(), { prefix }),
      openInTest(at(), { prefix }),
    ])
    const feed = freshFeed()
    const acknowledged = new Map<number, number>()
    const got = new Map<number, number>()
    let lostUpTo = 0
    let newest = 0
    reader.stores.bus.follow({
      deliver({ position, event }) {
        expect(position).toBeGreaterThan(Math.max(newest, lostUpTo))
        newest = position
        if (event.type === 'applied') got.set(position, event.position)
      },
      lost: (_, upTo) => {
        lostUpTo = Math.max(lostUpTo, upTo)
      },
    })
    const working = new Failovers(group, failovers)
    let sent = 0
    const publish = async (): Promise<void> => {
      while (!working.isOver) {
        const number = ++sent
        const outcome = await publisher.stores.bus
          .publish({ type: 'applied', feed, position: number }, 1)
          .catch(() => undefined)
        if (outcome?.outcome === 'published') {
          expect(acknowledged.has(outcome.position)).toBe(false)
          acknowledged.set(outcome.position, number)
        }
        await systemClock.sleep(2)
      }
    }
    await Promise.all([working.run(), publish()])
    const last = Math.max(...acknowledged.keys())
    await vi.waitFor(() => expect(Math.max(newest, lostUpTo)).toBeGreaterThanOrEqual(last), longTimeout)
    for (const [position, number] of acknowledged) {
      if (got.has(position)) expect(got.get(position)).toBe(number)
      else expect(position).toBeLessThanOrEqual(lostUpTo)
    }
    expect(got.size).toBeGreaterThan(acknowledged.size / 2)
    expect(lostUpTo).toBeGreaterThan(0)
  })
})

describeRedis('Redis behind Sentinels, after a failover', at)
