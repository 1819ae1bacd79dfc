import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey } from '../../../services/core/feeds/compound-key.ts'
import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import type { BusEvent } from '../../../services/ports/bus.ts'
import type { Stores } from '../../../services/ports/stores.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { RawSession, seriesAt } from '../../support/clients/raw-session.ts'
import { defineFeed, type IngestFixture, openIngestFixture } from '../../support/fixtures/ingest-fixture.ts'
import { openProxy, type Proxy } from '../../support/redis/proxy.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { freshPrefix, openInTest } from '../../support/redis/stores.ts'
import { freshFeed, minuteBar } from '../suites/sample-bars.ts'

/** Maximum time of a takeover after the last liveness report of the leader, and 10 s for a busy machine. */
const takeoverMs = 15_000 + 10_000

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('a new publisher causes one loss, so that readers read bars from the store that its predecessor did not publish', async () => {
  const { stores } = await openInTest({ url: server.url })
  const feed = freshFeed()
  const received: unknown[] = []
  stores.bus.follow({
    deliver: ({ event }) => void received.push(event.type),
    lost: (of, upTo) => void received.push({ lost: of, upTo }),
  })
  const bars = (i: number): BusEvent => ({
    type: 'bars',
    feed,
    bars: [{ symbol: compoundKey(feed, 'X'), resolution: '1', bar: minuteBar(i) }],
  })
  const positions: number[] = []
  for (const [i, epoch] of [5, 5, 6, 6].entries()) {
    const outcome = await stores.bus.publish(bars(i), epoch)
    positions.push(outcome.outcome === 'published' ? outcome.position : 0)
  }
  await expect.poll(() => received.length).toBe(5)
  const [, second = 0, third = 0] = positions
  expect(third).toBe(second + 2)
  expect(received).toEqual(['bars', 'bars', { lost: feed, upTo: second + 1 }, 'bars', 'bars'])
})

describe('two ingests with one Redis', () => {
  const feed = defineFeed({ symbols: { list: [{ raw: 'EURUSD', type: 'forex', digits: 5 }] } })
  /** Start of the current minute, UTC seconds; earlier minutes are closed. */
  const thisMinute = (): number => Math.floor(systemClock.utcMs() / 60_000) * 60

  interface Pair {
    readonly first: IngestFixture
    readonly second: IngestFixture
    /** Between the first ingest and Redis. */
    readonly proxy: Proxy
    times(): Promise<readonly number[]>
  }

  /** Two ingests with separate Redis connections and one embedded store for bars and registry. */
  async function openPair(): Promise<Pair> {
    const folder = mkdtempSync(join(tmpdir(), 'fxd-takeover-'))
    const shared = await openEmbeddedStores({ folder, clock: systemClock, log: silentLog })
    const proxy = await openProxy(server)
    const prefix = freshPrefix()
    const start = async (url: string): Promise<IngestFixture> => {
      const { bus, leases, board } = (await openInTest({ url }, { prefix })).stores
      const fixture = await openIngestFixture([feed], {
        stores: { ...shared, bus, leases, board } satisfies Stores,
      })
      onTestFinished(() => fixture.remove())
      return fixture
    }
    onTestFinished(async () => {
      await proxy.close()
      await shared.close()
      rmSync(folder, { recursive: true })
    })
    const series = { feed: feed.key, symbol: compoundKey(feed.key, 'EURUSD'), resolution: '1' as const }
    return {
      first: await start(proxy.url),
      second: await start(server.url),
      proxy,
      async times() {
        const read = { series, from: feedSeconds(0), to: feedSeconds(2 ** 40) }
        return [...(await shared.bars.read(read)).time]
      },
    }
  }

  /** Opens a session and waits until it leads. */
  async function lead(fixture: IngestFixture, id: string): Promise<RawSession> {
    const session = new RawSession(fixture.address)
    await session.hello(feed.key, { id })
    return session
  }

  async function standBy(fixture: IngestFixture, id: string): Promise<RawSession> {
    const session = new RawSession(fixture.address)
    session.hello(feed.key, { id }).catch(() => undefined)
    await session.find(({ welcome }) => welcome?.active === false)
    return session
  }

  /** Resolves with the epoch once the session leads and may push. */
  const active = async (session: RawSession): Promise<number> => {
    await session.find(({ catalogued }) => catalogued?.last === true)
    return Number((await session.find(({ welcome }) => welcome?.active === true)).welcome?.epoch)
  }
  const pushed = (fixture: IngestFixture): number[] =>
    fixture.events.flatMap(({ event }) =>
      event.type === 'bars' ? event.bars.map(({ bar }) => bar.time) : [],
    )

  test('a standby collector at the second ingest takes over when the active collector disconnects from the first', async () => {
    const { first, second } = await openPair()
    const a = await lead(first, 'a')
    const b = await standBy(second, 'b')
    const epoch = await active(a)
    await a.close()
    expect(await active(b)).toBeGreaterThan(epoch)
    await b.close()
  })

  test(
    'an ingest without Redis still acks bars, loses its feed to the other ingest, and is fenced when Redis returns',
    async () => {
      const { first, second, proxy, times } = await openPair()
      const a = await lead(first, 'a')
      const b = await standBy(second, 'b')
      const base = thisMinute()
      await a.bars('LIVE', [seriesAt('EURUSD', [base - 300])])
      await expect.poll(() => pushed(second)).toEqual([base - 300])

      proxy.swallowReplies()
      const cutMs = systemClock.monotonicMs()
      for (const count of [4, 3]) {
        const { ack } = await a.bars('LIVE', [seriesAt('EURUSD', [base - count * 60])])
        expect(ack.accepted).toBe(1)
      }
      await active(b)
      expect(systemClock.monotonicMs() - cutMs).toBeLessThan(takeoverMs)
      await b.bars('LIVE', [seriesAt('EURUSD', [base - 120])])
      await expect.poll(() => pushed(second).at(-1)).toBe(base - 120)

      // It no longer leads; bars that it still stores have no effect on the other ingest.
      await a.bars('LIVE', [seriesAt('EURUSD', [base - 120, base - 60])])
      proxy.cut()
      expect(await a.ended).toMatchObject({ code: 'ABORTED' })
      expect(new Set(await times())).toEqual(new Set([5, 4, 3, 2, 1].map((count) => base - count * 60)))
      expect(pushed(second).filter((time, i, all) => i > 0 && time <= (all[i - 1] ?? 0))).toEqual([])
      await b.close()
    },
    2 * takeoverMs,
  )

  test('after a Redis outage an ingest whose feed has no other collector publishes its queued bars in order', async () => {
    const { first, second, proxy } = await openPair()
    const a = await lead(first, 'a')
    const base = thisMinute()
    await a.bars('LIVE', [seriesAt('EURUSD', [base - 360])])
    await expect.poll(() => pushed(second).length).toBe(1)
    proxy.swallowReplies()
    for (const count of [5, 4, 3, 2]) await a.bars('LIVE', [seriesAt('EURUSD', [base - count * 60])])
    await expect.poll(() => first.metrics.total('fxd_ingest_backlog_bars', {})).toBeGreaterThan(0)
    proxy.cut()
    const wanted = [6, 5, 4, 3, 2].map((count) => base - count * 60)
    await expect.poll(() => [...new Set(pushed(second))], { timeout: 10_000 }).toEqual(wanted)
    // The second ingest may read an event before Redis' reply reaches the first.
    await expect.poll(() => first.metrics.total('fxd_ingest_backlog_bars', {})).toBe(0)
    await a.close()
  })
})
