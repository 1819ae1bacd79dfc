import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { quietListener } from '../../../../test/support/samples/quiet-listener.ts'
import { toList } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { feedKey } from '../../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import type { SourceBars, SourceListener } from '../../source.ts'
import { createSimulator } from './simulator.ts'

const definition: FeedDefinition = {
  key: feedKey('BROKERA', 'ZERO'),
  name: 'brokera-zero',
  broker: 'BROKERA',
  account: 'ZERO',
  brokerName: 'BrokerA',
  description: 'BrokerA Zero',
  clock: { mode: 'Fixed', offsetSeconds: -10_800 },
  quoteBasis: 'Bid',
  resolutions: ['1', '5', '30', '60'],
  delaySeconds: 0,
  liveness: 'heartbeat',
  depth: {},
  retention: {},
  storageBuckets: 4,
  suffixes: ['.z'],
  symbols: [
    { raw: 'EURUSD.z', type: 'forex', digits: 5 },
    { raw: 'VOD.z', type: 'forex', digits: 4, delaySeconds: 900 },
  ],
  source: { type: 'Simulator', seed: 1 },
}

async function open(start: number) {
  const clock = createVirtualClock({ start })
  const closed: SourceBars[] = []
  const watched: [Resolution, number, number][] = []
  const stop = new AbortController()
  const quiet = quietListener(clock)
  const listener: SourceListener = {
    ...quiet,
    closed(batch) {
      closed.push(...batch)
      return quiet.closed(batch)
    },
    watched: (r, span) => watched.push([r, span.from, span.to]),
  }
  const simulator = createSimulator(definition, 1, clock)
  await simulator.open(listener, stop.signal)
  return { clock, closed, watched, simulator, stop }
}

const utc = Date.UTC(2026, 0, 7, 11, 58, 30)
const feedNoon = Date.UTC(2026, 0, 7, 15, 0) / 1000

test('each minute closes once for every symbol on the feed clock, for a delayed symbol later by its delay', async () => {
  const { clock, closed, watched, stop } = await open(utc)
  await clock.advance(2 * 60_000)
  const times = (raw: string, r: Resolution) =>
    closed
      .filter((each) => each.raw === raw && each.resolution === r)
      .flatMap(({ bars }) => toList(bars).map((bar) => bar.time))
  expect(times('EURUSD.z', '1')).toEqual([feedNoon - 120, feedNoon - 60])
  expect(times('VOD.z', '1')).toEqual([feedNoon - 1020, feedNoon - 960])
  expect(times('EURUSD.z', '60')).toEqual([feedNoon - 3_600])
  expect(times('VOD.z', '60')).toEqual([])
  expect(watched.filter(([r]) => r === '1')).toEqual([
    ['1', feedNoon - 120, feedNoon - 60],
    ['1', feedNoon - 120, feedNoon],
  ])
  stop.abort()
  expect(clock.pending).toBe(0)
})

test('bars that were reported live are equal when they are read again', async () => {
  const { clock, closed, simulator, stop } = await open(utc)
  await clock.advance(12 * 60_000)
  const live = closed
    .filter((each) => each.raw === 'EURUSD.z' && each.resolution === '1')
    .flatMap(({ bars }) => toList(bars))
  const span = { from: feedSeconds(feedNoon - 120), to: feedSeconds(feedNoon + 86_400) }
  const again = []
  for await (const answer of simulator.read({ raw: 'EURUSD.z', resolution: '1' }, span, stop.signal))
    again.push(...toList(answer.bars))
  expect(again).toEqual(live)
  expect(live).toHaveLength(12)
})
