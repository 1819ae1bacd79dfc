import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { compoundKey, type FeedKey } from '../../../services/core/feeds/compound-key.ts'
import { createLog } from '../../../services/platform/log/log.ts'
import { feedOfEvent } from '../../../services/ports/bus.ts'
import { live, openStreamFixture, zero } from '../../support/fixtures/stream-fixture.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { openInTest } from '../../support/redis/stores.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const longTimeout = { timeout: 15_000 }

interface Line {
  readonly msg: string
  readonly feed?: string
}

/** A stream whose bus is in Redis, and the log of both. */
async function fixture() {
  const lines: Line[] = []
  const log = createLog('warn', { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  const redis = await openInTest(server, { log })
  const stream = await openStreamFixture({ log, change: () => ({ bus: redis.stores.bus }) })
  onTestFinished(() => stream.close())
  const received = new Set<FeedKey | undefined>()
  redis.stores.bus.follow({
    deliver: ({ event }) => void received.add(feedOfEvent(event)),
    lost: () => undefined,
  })
  const publish = async (feed: FeedKey, epoch: number) =>
    void (await redis.stores.bus.publish({ type: 'settled', feed }, epoch))
  // The stream followed first: an event that this follower gets has reached the stream too.
  await vi.waitFor(async () => {
    await redis.stores.bus.publish({ type: 'registry', version: 0 }, 0)
    for (const feed of [zero, live]) await publish(feed, 1)
    await vi.waitFor(() => expect(received).toEqual(new Set([zero, live, undefined])))
  }, longTimeout)
  let lossesSeen = 0
  return {
    ...stream,
    publish,
    losses: () => lines.filter(({ msg }) => msg.includes('lost')).map(({ feed }) => feed),
    /** Runs `cause` and resolves once the process has counted `count` more losses. */
    async lose(count: number, cause: () => Promise<unknown>): Promise<void> {
      await cause()
      lossesSeen += count
      await vi.waitFor(
        async () => expect(await redis.metric('fxd_bus_losses_total')).toBe(lossesSeen),
        longTimeout,
      )
    },
  }
}

async function subscribe(stream: Awaited<ReturnType<typeof fixture>>): Promise<void> {
  const { secret } = await stream.issue()
  const socket = await stream.connect(secret)
  await socket.subscribe([compoundKey(zero, 'SYM0')])
}

test('a loss of the bus is logged once per feed, and only for feeds with a subscribed socket', async () => {
  const stream = await fixture()
  /** A new publisher skips one position, because its predecessor may have ended before a publication. */
  const takeOver = (epoch: number) => async () => {
    for (const feed of [zero, live]) await stream.publish(feed, epoch)
  }
  await stream.lose(2, takeOver(2))
  expect(stream.losses()).toEqual([])
  await subscribe(stream)
  await stream.lose(2, takeOver(3))
  expect(stream.losses()).toEqual([zero])
})

test('a Redis that is emptied twice is logged once per feed with a subscribed socket, and not for the registry', async () => {
  const stream = await fixture()
  await subscribe(stream)
  for (let round = 0; round < 2; round++) await stream.lose(3, () => server.command('FLUSHALL'))
  expect(stream.losses()).toEqual([zero])
})
