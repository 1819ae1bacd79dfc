import { expect, onTestFinished, test } from 'vitest'
import { RawSession, seriesAt } from '../../../test/support/clients/raw-session.ts'
import {
  defineFeed,
  type IngestFixture,
  openIngestFixture,
} from '../../../test/support/fixtures/ingest-fixture.ts'
import { createVirtualClock, type VirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { createHistory } from '../../bars/history.ts'
import { createTail } from '../../bars/tail.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import { compoundKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { knownClock } from '../../core/registry/clock-history.ts'

const hour = 3_600
const define = (delaySeconds = 0): FeedDefinition =>
  defineFeed({
    clock: { mode: 'Measured' },
    delaySeconds,
    symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] },
  })

interface Terminal {
  readonly fixture: IngestFixture
  readonly clock: VirtualClock
  readonly session: RawSession
  /** The present, in seconds, on a clock that is `ahead` seconds ahead of UTC. */
  now(ahead: number): number
  /** Sends a tick every five seconds, for `seconds`. */
  flow(seconds: number, ahead: number): Promise<void>
  known(): number | undefined
}

async function terminal(definition: FeedDefinition): Promise<Terminal> {
  const clock = createVirtualClock()
  const fixture = await openIngestFixture([definition], { clock })
  onTestFinished(() => fixture.remove())
  const session = new RawSession(fixture.address)
  await session.hello(definition.key)
  const now = (ahead: number): number => Math.floor(clock.utcMs() / 1000) + ahead
  return {
    fixture,
    clock,
    session,
    now,
    async flow(seconds, ahead) {
      for (let i = 0; i < seconds; i += 5) {
        session.send({ heartbeat: { terminalConnected: true, newestTick: now(ahead) - 1 } })
        // The answer shows that the heartbeat was processed.
        await session.bars('LIVE', [])
        await clock.advance(5_000)
      }
    },
    known() {
      const view = fixture.registry.view()
      return knownClock(definition, view.clocksOf(definition.key))?.offsetSeconds
    },
  }
}

test('two minutes of ticks measure a clock, by which bars close, and countback works after the ticks stop', async () => {
  const feed = define()
  const { fixture, clock, session, now, flow, known } = await terminal(feed)
  await flow(120, 3 * hour)
  expect(known()).toBeUndefined()
  await flow(15, 3 * hour)
  await expect.poll(known).toBe(-3 * hour)
  const [reading] = fixture.registry.view().clocksOf(feed.key)
  expect(reading).toMatchObject({ source: 'Measured', measuredAt: reading?.since })

  await clock.advance(600_000)
  const minute = Math.floor(now(3 * hour) / 60) * 60
  const forming = await session.bars('LIVE', [seriesAt('EURUSD', [minute])])
  expect(forming.refused).toMatchObject([{ reason: 'REFUSAL_REASON_NOT_CLOSED' }])
  const closed = await session.bars('LIVE', [seriesAt('EURUSD', [minute - 120])])
  expect(closed.ack).toMatchObject({ accepted: 1 })
  const { bars, board, bus } = fixture.stores
  const history = createHistory({ bars, board, tail: createTail(bus), clock, registry: fixture.registry })
  const series = { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' as const }
  expect([...(await history.countback(series, 1, undefined, serviceReader('asker'))).time]).toEqual([
    minute - 120,
  ])
  await session.close()
})

test('ticks show at once that a clock was put forward or back; it is measured again, and the history keeps both', async () => {
  const feed = define()
  const { fixture, session, now, flow, known } = await terminal(feed)
  await flow(135, 2 * hour)
  await expect.poll(known).toBe(-2 * hour)
  const before = Math.floor(now(2 * hour) / 60) * 60 - 60
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [before])])).ack).toMatchObject({ accepted: 1 })

  await flow(60, 3 * hour)
  expect(known()).toBe(-2 * hour)
  const minute = Math.floor((now(3 * hour) - 6) / 60) * 60 - 60
  expect((await session.bars('LIVE', [seriesAt('EURUSD', [minute])])).ack).toMatchObject({ accepted: 1 })
  await flow(75, 3 * hour)
  await expect.poll(known).toBe(-3 * hour)

  await flow(10, 2 * hour)
  // By the old clock, this bar of the repeated hour would have closed long ago.
  const forming = Math.floor(now(2 * hour) / 60) * 60
  const five = seriesAt('EURUSD', [forming - (forming % 300)], { resolution: '5' })
  expect((await session.bars('LIVE', [five])).refused).toMatchObject([
    { reason: 'REFUSAL_REASON_NOT_CLOSED' },
  ])
  await flow(125, 2 * hour)
  await expect.poll(known).toBe(-2 * hour)
  const offsets = fixture.registry.view().clocksOf(feed.key)
  expect(offsets.map(({ offsetSeconds }) => offsetSeconds / hour)).toEqual([-2, -3, -2])
  const stored = await fixture.stores.bars.lastTimes(feed.key)
  expect([...stored.values()]).toEqual([minute])
  await session.close()
})

test('clock samples replace the ticks of heartbeats, and one tick from far in the future changes nothing', async () => {
  const { session, clock, now, known } = await terminal(define())
  for (let i = 0; i < 30; i++) {
    session.send({ clockSample: { newestTick: now(2 * hour) } })
    session.send({ heartbeat: { terminalConnected: true, newestTick: 4_000_000_000 } })
    await session.bars('LIVE', [])
    await clock.advance(5_000)
  }
  await expect.poll(known).toBe(-2 * hour)
  session.send({ clockSample: { newestTick: now(2 * hour) + 86_400 } })
  const tomorrow = Math.floor(now(2 * hour) / 60) * 60 + 3_600
  const { refused } = await session.bars('LIVE', [seriesAt('EURUSD', [tomorrow])])
  expect(refused).toHaveLength(1)
  expect(known()).toBe(-2 * hour)
  await session.close()
})

test('a feed with delayed quotes only is not measured, because its clock would seem late', async () => {
  const { session, flow, known } = await terminal(define(900))
  await flow(300, 3 * hour - 900)
  expect(known()).toBeUndefined()
  await session.close()
})
