import { expect, test } from 'vitest'
import { CollectorFixture, day } from '../../../test/support/fixtures/collector-fixture.ts'
import { createVirtualClock } from '../../../test/support/fixtures/virtual-clock.ts'
import { FakeTerminal, fakeSymbol } from '../../../test/support/samples/fake-terminal.ts'
import { barsOf } from '../../core/bars/bar.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type Dial, dialGrpc } from '../connection/dial.ts'
import type { WindowSender } from '../connection/window-sender.ts'
import { CollectedSeries } from '../series/collected-series.ts'
import { KnownFeed } from '../series/known-feed.ts'
import { Claims } from './claims.ts'
import type { FeedTime } from './feed-time.ts'

const suite = new CollectorFixture()

test('a defect while symbols are added ends one session, and the next one collects the feed', async () => {
  let faults = 2
  const source = new FakeTerminal([fakeSymbol('EURUSD.z')], () => Math.floor(suite.clock.utcMs() / 1000), {
    rereadable: true,
    live: true,
    get reads(): 'pieces' {
      if (faults > 0) {
        faults -= 1
        throw new TypeError('a defect')
      }
      return 'pieces'
    },
  })
  suite.collect(source)
  const isCollected = async (): Promise<boolean> => {
    await suite.clock.advance(1_000)
    return (await suite.covered('EURUSD')).some(([from, to]) => to - from > day)
  }
  await expect.poll(isCollected, { timeout: 30_000 }).toBe(true)
  expect(faults).toBe(0)
}, 60_000)

test('a collector that stops before the greeting of ingest arrives leaves no timer', async () => {
  const clock = createVirtualClock()
  const gate = Promise.withResolvers<void>()
  let isGreeted = false
  const dial: Dial = (peer, listener) =>
    dialGrpc(peer, {
      received(message) {
        isGreeted ||= message.known?.last === true
        void gate.promise.then(() => listener.received(message))
      },
      over: (end) => void gate.promise.then(() => listener.over(end)),
    })
  suite.collect(suite.terminal(), { clock, dial })
  await expect.poll(() => isGreeted).toBe(true)
  const stopped = suite.stop()
  gate.resolve()
  await stopped
  expect(clock.pending).toBe(0)
})

test('a collector that stops while its source opens begins no session and leaves no timer', async () => {
  const clock = createVirtualClock()
  const gate = Promise.withResolvers<void>()
  const source = suite.terminal()
  source.open = () => gate.promise
  let dials = 0
  const dial: Dial = (peer, listener) => {
    dials += 1
    return dialGrpc(peer, listener)
  }
  suite.collect(source, { clock, dial })
  const stopped = suite.stop()
  gate.resolve()
  await stopped
  expect([dials, clock.pending]).toEqual([0, 0])
})

test('a claim that fails is reported', async () => {
  const reported: unknown[] = []
  const defect = new TypeError('a defect')
  const claims = new Claims({
    windows: { send: () => Promise.reject(defect) } as unknown as WindowSender,
    settled: async () => undefined,
    time: { now: () => undefined } as unknown as FeedTime,
    bars: { of: () => [] },
    failed: (cause) => void reported.push(cause),
  })
  const of = { raw: 'A', resolution: '1', name: 'A', scale: 0, delaySeconds: 0, since: undefined } as const
  const series = new CollectedSeries(of, new KnownFeed([]), undefined)
  claims.series(series, [{ from: feedSeconds(0), to: feedSeconds(60) }])
  await expect.poll(() => reported).toEqual([defect])
})

test('a minute whose bar ingest refused as not closed while its window waited is claimed by the next report', async () => {
  const sent: Span[] = []
  let stored = Promise.withResolvers<void>()
  const of = { raw: 'A', resolution: '1', name: 'A', scale: 0, delaySeconds: 0, since: undefined } as const
  const series = new CollectedSeries(of, new KnownFeed([]), undefined)
  series.isLive = true
  series.claimedUntil = feedSeconds(60)
  const claims = new Claims({
    windows: {
      send: async (_name: string, _resolution: string, span: Span) => void sent.push(span),
    } as unknown as WindowSender,
    settled: () => stored.promise,
    time: { now: () => undefined } as unknown as FeedTime,
    bars: { of: () => [series] },
    failed: (cause) => expect.unreachable(String(cause)),
  })
  const watched = { from: feedSeconds(0), to: feedSeconds(180) }
  claims.watched('1', watched)
  const bars = barsOf([{ time: feedSeconds(120), open: 1, high: 1, low: 1, close: 1, volume: 1 }])
  series.unstored.add(bars)
  series.forming = { bars, derived: false }
  stored.resolve()
  await expect.poll(() => sent).toEqual([{ from: 60, to: 120 }])
  series.unstored.fill(bars)
  series.forming = undefined
  stored = Promise.withResolvers()
  stored.resolve()
  claims.watched('1', watched)
  await expect.poll(() => sent.slice(1)).toEqual([{ from: 120, to: 180 }])
})
