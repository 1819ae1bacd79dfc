import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeSeries } from '../../test/support/samples/encode-series.ts'
import { type Bars, barsOf, toList } from '../core/bars/bar.ts'
import { fromInteger } from '../core/bars/prices.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { decodeBars } from './decode-bars.ts'
import { encodeBars, encodeSeriesBars } from './encode-bars.ts'
import { Collector } from './load.ts'

const { requestSerialize } = Collector.service.Session

const units = fc.oneof(
  fc.integer({ min: -200_000, max: 200_000 }),
  fc.integer({ min: 0, max: 2 ** 31 + 10 }),
  fc.integer({ min: -(2 ** 51), max: 2 ** 51 }),
)
const row = fc.record({
  time: fc.integer({ min: 0, max: 253_402_300_799 }),
  prices: fc.tuple(units, units, units, units),
  volume: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 52 })),
  revision: fc.integer({ min: 1, max: 2 ** 41 }),
})
const head = fc.record({
  symbol: fc.constantFrom('EURUSD', 'GOOGL_CFD.US', 'ß€', '', '__proto__'),
  resolution: fc.constantFrom('1' as const, '1D' as const),
  scale: fc.integer({ min: 0, max: 11 }),
})

const barsFrom = (
  rows: readonly (typeof row extends fc.Arbitrary<infer R> ? R : never)[],
  scale: number,
): Bars =>
  barsOf(
    rows.map(({ time, prices: [open, high, low, close], volume, revision }) => ({
      time: feedSeconds(time),
      open: fromInteger(open, scale),
      high: fromInteger(high, scale),
      low: fromInteger(low, scale),
      close: fromInteger(close, scale),
      volume,
      revision,
    })),
  )

describe('bars encoded from columns', () => {
  test('are byte for byte equal to the library’s encoding', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 40 }),
        fc.constantFrom('LIVE' as const, 'BACKFILL' as const),
        fc.array(fc.tuple(head, fc.array(row, { maxLength: 20 })), { maxLength: 3 }),
        (sequence, lane, list) => {
          const series = list.map(([of, rows]) => ({ of, bars: barsFrom(rows, of.scale) }))
          const ours = encodeBars(
            sequence,
            lane,
            series.map(({ of, bars }) => encodeSeriesBars(of, bars)),
          )
          const theirs = requestSerialize({
            bars: {
              sequence,
              lane: `LANE_${lane}`,
              series: series.map(({ of, bars }) => encodeSeries(of, bars)),
            },
          })
          expect(Buffer.from(ours).toString('hex')).toBe(theirs.toString('hex'))
        },
      ),
    )
  })

  test('are decoded to the last bit up to the largest exact number', () => {
    const max = Number.MAX_SAFE_INTEGER
    const bars = barsOf(
      [max, 1, max, 2 ** 52, 2 ** 52 + 1].map((price, i) => ({
        time: feedSeconds(60 * i),
        open: price,
        high: price,
        low: price,
        close: price,
        volume: i % 2 === 0 ? max : 0,
        revision: 1,
      })),
    )
    expect(toList(back(bars))).toEqual(toList(bars))
  })

  test('are decoded to the last bit down to the smallest exact number', () => {
    const min = Number.MIN_SAFE_INTEGER
    const bars = barsOf(
      [min, -1, 0, min, -(2 ** 52)].map((price, i) => ({
        time: feedSeconds(60 * i),
        open: price,
        high: price,
        low: price,
        close: price,
        volume: 1,
        revision: 1,
      })),
    )
    expect(toList(back(bars))).toEqual(toList(bars))
  })

  test('an invalid number makes only its own bar invalid', () => {
    for (const wrong of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1e300, 1e300]) {
      const good = { open: 2, high: 3, low: 1, close: 2, volume: 5, revision: 7 }
      const bars = barsOf([
        { ...good, time: feedSeconds(0) },
        { ...good, time: feedSeconds(60), open: wrong, volume: wrong },
        { ...good, time: feedSeconds(120) },
      ])
      const [first, spoilt, last] = toList(back(bars))
      expect([first, last]).toEqual([toList(bars)[0], toList(bars)[2]])
      expect(spoilt).toMatchObject({ open: 0, volume: -1, close: 2 })
    }
  })
})

function back(bars: Bars): Bars {
  const series = encodeSeriesBars({ symbol: 'EURUSD', resolution: '1', scale: 0 }, bars)
  const decoded = decodeBars(Buffer.from(encodeBars(1, 'BACKFILL', [series])))?.series[0]?.bars
  return typeof decoded === 'object' ? decoded : expect.unreachable(decoded ?? 'no series came back')
}
