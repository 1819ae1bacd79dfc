import { expect, onTestFinished, test, vi } from 'vitest'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { queuedBarsMax } from '../../../services/ingest/feed/event-queue.ts'
import { Publisher } from '../../../services/ingest/feed/publisher.ts'
import { createIngestMetrics } from '../../../services/ingest/metrics.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import {
  gapsOf,
  minuteBar,
  minutesOf,
  openStreamFixture,
  zero,
} from '../../support/fixtures/stream-fixture.ts'
import { startRedis } from '../../support/redis/server.ts'
import { freshPrefix, openInTest } from '../../support/redis/stores.ts'

const symbol = compoundKey(zero, 'SYM0')
const other = compoundKey(zero, 'SYM1')
const epoch = 1

test('after an outage of Redis whose waiting bars were dropped, a socket gets all bars once and in order, and the session goes on', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const prefix = freshPrefix()
  const [reader, writer] = [await openInTest(server, { prefix }), await openInTest(server, { prefix })]
  const stream = await openStreamFixture({ change: () => ({ bus: reader.stores.bus }) })
  onTestFinished(() => stream.close())
  const metrics = createMetrics({ ofProcess: false })
  const publisher = new Publisher(zero, {
    bus: writer.stores.bus,
    clock: systemClock,
    log: silentLog,
    metrics: createIngestMetrics(metrics),
  })
  onTestFinished(() => publisher.close())
  const publish = async (minutes: readonly number[], of = symbol) => {
    if (of === symbol) await stream.store(symbol, minutes)
    const bars = minutes.map((minute) => ({ symbol: of, resolution: '1' as const, bar: minuteBar(minute) }))
    return publisher.publish({ type: 'bars', feed: zero, bars }, epoch)
  }
  const { secret } = await stream.issue()
  const socket = await stream.connect(secret)
  await socket.subscribe([symbol])
  await publish([1])
  await vi.waitFor(() => expect(minutesOf(socket, symbol)).toEqual([1]))

  await server.freeze()
  expect(await publish([2])).toBeUndefined()
  await publish([3, 4])
  await publish(Array<number>(queuedBarsMax).fill(1), other)
  expect(await metrics.total('fxd_ingest_backlog_dropped_bars_total', {})).toBeGreaterThan(queuedBarsMax)
  await publish([5, 6])
  await publisher.publish({ type: 'settled', feed: zero }, epoch)
  server.thaw()

  await vi.waitFor(async () => {
    await stream.clock.advance(100)
    expect(minutesOf(socket, symbol)).toEqual([1, 2, 3, 4, 5, 6])
  }, 20_000)
  expect(gapsOf(socket)).toEqual([])
  expect(await publish([7])).toBeGreaterThan(0)
  await vi.waitFor(() => expect(minutesOf(socket, symbol).at(-1)).toBe(7))
})
