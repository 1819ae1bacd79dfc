import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import type { BusEvent } from '../../../ports/bus.ts'
import { decodeEvent, encodeEvent, eventBytesMax } from './codec.ts'

const feed = feedKey('BROKERA', 'ZERO')
const anyNumber = fc.double({ noNaN: true })
const anyBar = fc.record({
  symbol: fc.stringMatching(/^[\w.é]{1,12}$/).map((name) => compoundKey(feed, name)),
  resolution: fc.constantFrom('1' as const, '1D' as const),
  bar: fc.record({
    time: fc.integer().map(feedSeconds),
    open: anyNumber,
    high: anyNumber,
    low: anyNumber,
    close: anyNumber,
    volume: fc.nat(),
    revision: fc.maxSafeNat(),
  }),
})

test('decoded bars equal the encoded bars', () => {
  fc.assert(
    fc.property(fc.array(anyBar), (bars) => {
      const event: BusEvent = { type: 'bars', feed, bars }
      expect(decodeEvent(encodeEvent(event))).toEqual(event)
    }),
  )
})

const range = { from: feedSeconds(-1), to: feedSeconds(2) }
test.each<BusEvent>([
  { type: 'revised', series: { feed, symbol: compoundKey(feed, 'é'), resolution: '1' }, ...range },
  { type: 'applied', feed, position: 1_796_212_345_678_901 },
  { type: 'settled', feed },
  { type: 'minutes', feed, ...range },
  { type: 'registry', version: 3 },
])('%j is decoded unchanged', (event) => {
  expect(decodeEvent(encodeEvent(event))).toEqual(event)
})

test('an event of another version is not decoded, and an event above the bound is rejected with its size', () => {
  expect(decodeEvent(Buffer.of(9, 1, 2))).toBeUndefined()
  const symbol = compoundKey(feed, 'X'.repeat(eventBytesMax))
  const bar = { time: feedSeconds(0), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }
  expect(() => encodeEvent({ type: 'bars', feed, bars: [{ symbol, resolution: '1', bar }] })).toThrow(
    /has \d+ bytes; it must have 4194304 at most/,
  )
})

test('a minute of 1,622 symbols is one entry below 200 kB', () => {
  const bars = Array.from({ length: 1_622 }, (_, i) => ({
    symbol: compoundKey(feed, `TICKER${i}_CFD.US`),
    resolution: '1' as const,
    bar: { time: feedSeconds(i), open: 1.1, high: 1.2, low: 1, close: 1.15, volume: i, revision: i },
  }))
  expect(encodeEvent({ type: 'bars', feed, bars }).length).toBeLessThan(200_000)
})

test('truncated events and events of another version decode to undefined', () => {
  const whole = encodeEvent({ type: 'registry', version: 3 })
  const bars: BusEvent = {
    type: 'bars',
    feed,
    bars: [
      {
        symbol: compoundKey(feed, 'EURUSD'),
        resolution: '1',
        bar: { time: feedSeconds(60), open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 },
      },
    ],
  }
  for (const bytes of [
    whole.subarray(0, -1),
    encodeEvent(bars).subarray(0, 20),
    Buffer.of(),
    Buffer.of(9, 9),
  ])
    expect(decodeEvent(bytes)).toBeUndefined()
})
