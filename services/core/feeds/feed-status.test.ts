import fc from 'fast-check'
import { expect, test } from 'vitest'
import { definition } from '../../../test/support/samples/samples.ts'
import { feedSeconds, toSeconds, utcMs } from '../clocks/feed-clock.ts'
import { type FeedFacts, type FeedStatus, feedStatus, platformStatus } from './feed-status.ts'

const now = utcMs(Date.UTC(2026, 10, 20, 12, 0, 0))
const ago = (seconds: number) => utcMs(now - seconds * 1_000)
const facts = (change: Partial<FeedFacts> = {}): FeedFacts => ({
  definition: definition(),
  liveness: {},
  now,
  offsetSeconds: 0,
  symbolCount: 3,
  ...change,
})

test.each<[number, FeedStatus['status']]>([
  [0, 'live'],
  [299, 'live'],
  [299.9, 'live'],
  [300, 'stale'],
  [1_800, 'stale'],
  [1_801, 'offline'],
  [400_000, 'offline'],
])('%d seconds after the last heartbeat, or the last bar, a feed is %s', (seconds, status) => {
  expect(feedStatus(facts({ liveness: { heartbeatAt: ago(seconds) } }))).toMatchObject({
    status,
    liveness_source: 'heartbeat',
    last_heartbeat_age_seconds: Math.floor(seconds),
  })
  expect(
    feedStatus(facts({ liveness: { receivedAt: ago(seconds), newestBar: feedSeconds(60) } })),
  ).toMatchObject({
    status,
    liveness_source: 'candle',
    last_candle_age_seconds: Math.floor(seconds),
  })
})

test('a heartbeat outweighs bars: a quiet market with a connected terminal is live', () => {
  const liveness = { heartbeatAt: ago(10), receivedAt: ago(90_000), newestBar: feedSeconds(1_000) }
  expect(JSON.stringify(feedStatus(facts({ liveness })))).toBe(
    JSON.stringify({
      status: 'live',
      last_candle_time: 1_000,
      last_candle_age_seconds: 90_000,
      last_heartbeat_age_seconds: 10,
      liveness_source: 'heartbeat',
      clock_offset_seconds: 0,
      symbol_count: 3,
    }),
  )
})

test('a feed without heartbeats is offline, even with recent bars', () => {
  expect(feedStatus(facts({ liveness: { heartbeatAt: ago(1_900), receivedAt: ago(60) } })).status).toBe(
    'offline',
  )
})

test('a feed with liveness candle ignores heartbeats and shows none', () => {
  const liveness = { heartbeatAt: ago(1), receivedAt: ago(600) }
  const status = feedStatus(facts({ definition: definition({ liveness: 'candle' }), liveness }))
  expect(status).toMatchObject({ status: 'stale', liveness_source: 'candle' })
  expect(status).not.toHaveProperty('last_heartbeat_age_seconds')
})

test('an imported feed ages from the end of its newest bar, on its own clock', () => {
  const offsetSeconds = -10_800
  const feedNow = toSeconds(now) - offsetSeconds
  const newestStored = { time: feedSeconds(feedNow - 3_600 - 400), resolution: '60' as const }
  expect(feedStatus(facts({ offsetSeconds, newestStored }))).toEqual({
    status: 'stale',
    last_candle_time: newestStored.time,
    last_candle_age_seconds: 400,
    liveness_source: 'candle',
    clock_offset_seconds: offsetSeconds,
    symbol_count: 3,
  })
})

test('an import beside the live lane changes neither the time nor the age of the last bar', () => {
  const liveness = { receivedAt: ago(20), newestBar: feedSeconds(1_000) }
  const newestStored = { time: feedSeconds(9_000), resolution: '1D' as const }
  expect(feedStatus(facts({ liveness, newestStored }))).toMatchObject({
    last_candle_time: 1_000,
    last_candle_age_seconds: 20,
  })
})

test('while the clock is unknown, a feed has no age of stored bars and no offset, and is offline', () => {
  const newestStored = { time: feedSeconds(9_000), resolution: '1' as const }
  expect(feedStatus(facts({ offsetSeconds: undefined, newestStored }))).toEqual({
    status: 'offline',
    last_candle_time: 9_000,
    liveness_source: 'candle',
    symbol_count: 3,
  })
})

test('a feed without any event is offline with liveness source none, without times', () => {
  expect(feedStatus(facts())).toEqual({
    status: 'offline',
    liveness_source: 'none',
    clock_offset_seconds: 0,
    symbol_count: 3,
  })
})

test('a measured offset is shown with its age', () => {
  expect(feedStatus(facts({ offsetSeconds: -7_200, offsetAgeSeconds: 30 }))).toMatchObject({
    clock_offset_seconds: -7_200,
    clock_offset_age_seconds: 30,
  })
})

test.each([
  [347_155_200, 'about 4018 days behind UTC'],
  [-172_800, 'about 2 days ahead of UTC'],
])('a clock %i seconds from UTC has a note', (offsetSeconds, words) => {
  expect(feedStatus(facts({ offsetSeconds })).clock_note).toContain(words)
})

test.each([0, -10_800, 86_400, -86_400, undefined])(
  'a clock %s seconds from UTC has no note',
  (offsetSeconds) => {
    expect(feedStatus(facts({ offsetSeconds }))).not.toHaveProperty('clock_note')
  },
)

test('clocks of machines that differ a little never give a negative age', () => {
  expect(feedStatus(facts({ liveness: { receivedAt: ago(-3), heartbeatAt: ago(-3) } }))).toMatchObject({
    last_candle_age_seconds: 0,
    last_heartbeat_age_seconds: 0,
  })
})

test('a receipt or heartbeat more than a minute ahead counts as unknown: the clock that made it was wrong', () => {
  const status = (seconds: number) =>
    feedStatus(facts({ liveness: { receivedAt: ago(-seconds), heartbeatAt: ago(-seconds) } })).status
  expect([status(60), status(61)]).toEqual(['live', 'offline'])
})

const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
const instant = fc.integer({ min: now - 10_000_000_000, max: now + 5_000 }).map(utcMs)
const feedTime = fc.nat(2_000_000_000).map(feedSeconds)

test('fields are in the order of the specification and whole numbers, whatever is known', () => {
  const order = [
    'status',
    'last_candle_time',
    'last_candle_age_seconds',
    'last_heartbeat_age_seconds',
    'liveness_source',
    'clock_offset_seconds',
    'clock_offset_age_seconds',
    'symbol_count',
    'clock_note',
  ]
  const any = fc.record({
    liveness: fc.record({
      receivedAt: maybe(instant),
      newestBar: maybe(feedTime),
      heartbeatAt: maybe(instant),
    }),
    offsetSeconds: maybe(fc.integer({ min: -400_000_000, max: 400_000_000 })),
    offsetAgeSeconds: maybe(fc.nat()),
    newestStored: maybe(fc.record({ time: feedTime, resolution: fc.constantFrom('1', '1M') })),
    definition: fc.constantFrom(definition(), definition({ liveness: 'candle' })),
  })
  fc.assert(
    fc.property(any, (change) => {
      const status = feedStatus(facts(change))
      const shown = Object.keys(status)
      expect(shown).toEqual(order.filter((name) => shown.includes(name)))
      for (const value of Object.values(status)) {
        expect(typeof value === 'string' || Number.isSafeInteger(value)).toBe(true)
      }
      expect(status.liveness_source === 'none').toBe(
        status.last_candle_time === undefined &&
          status.last_candle_age_seconds === undefined &&
          status.last_heartbeat_age_seconds === undefined,
      )
    }),
  )
})

const platform = (...change: Partial<FeedFacts>[]) => change.map((each) => feedStatus(facts(each)))

test('a silent terminal or an unavailable store degrades the platform, a closed market does not', () => {
  const closedMarket = { liveness: { receivedAt: ago(200_000) } }
  const connected = { liveness: { heartbeatAt: ago(5) } }
  const silent = { liveness: { heartbeatAt: ago(1_801) } }
  expect(platformStatus(true, platform(closedMarket, connected, {}))).toBe('ok')
  expect(platformStatus(true, [])).toBe('ok')
  expect(platformStatus(true, platform(connected, silent))).toBe('degraded')
  expect(platformStatus(false, platform(connected))).toBe('degraded')
})
