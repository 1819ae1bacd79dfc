import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeSeries } from '../../test/support/encode-series.ts'
import { barsOf, toList } from '../core/bar.ts'
import { feedSeconds } from '../core/feed-clock.ts'
import { beyondScale, decodeSeries } from './columns.ts'
import { Collector } from './load.ts'

const { requestSerialize, requestDeserialize } = Collector.service.Session
const throughTheWire = (series: ReturnType<typeof encodeSeries>) => {
  const bytes = requestSerialize({ bars: { sequence: 1, lane: 'LANE_LIVE', series: [series] } })
  const back = requestDeserialize(bytes).bars?.series[0]
  if (!back) throw new Error('no series came back')
  return back
}

const bar = fc.record({
  time: fc.integer({ min: 0, max: 4_000_000_000 }).map(feedSeconds),
  open: fc.integer({ min: 1, max: 10 ** 12 }),
  high: fc.integer({ min: 1, max: 10 ** 12 }),
  low: fc.integer({ min: 1, max: 10 ** 12 }),
  close: fc.integer({ min: 1, max: 10 ** 12 }),
  volume: fc.integer({ min: 0, max: 10 ** 12 }),
  revision: fc.integer({ min: 1, max: 2 * 10 ** 12 }),
})

test('every bar comes out of the wire as it went in, to the last bit', () => {
  fc.assert(
    fc.property(fc.array(bar, { maxLength: 50 }), fc.integer({ min: 0, max: 8 }), (list, scale) => {
      const priced = list.map((each) => {
        const price = (units: number): number => Number(`${units}e-${scale}`)
        return {
          ...each,
          open: price(each.open),
          high: price(each.high),
          low: price(each.low),
          close: price(each.close),
        }
      })
      const decoded = decodeSeries(
        throughTheWire(encodeSeries({ symbol: 'EURUSD', resolution: '1', scale }, barsOf(priced))),
      )
      expect(typeof decoded === 'string' ? decoded : toList(decoded)).toEqual(priced)
    }),
  )
})

test('columns of different length are named', () => {
  const message = { ...encodeSeries({ symbol: 'A', resolution: '1', scale: 2 }, barsOf([])), close: [1, 2] }
  expect(decodeSeries(throughTheWire(message))).toBe('close: got 2 values, wanted 0 as in time')
})

test('integers beyond 2^53 become no price instead of a wrong one', () => {
  const one = {
    time: [60],
    open: ['9007199254740993'],
    high: [1],
    low: [1],
    close: [1],
    volume: [1],
    revision: [1],
  }
  const decoded = decodeSeries(throughTheWire({ symbol: 'A', resolution: '1', scale: 0, ...one }))
  expect(typeof decoded === 'string' ? decoded : decoded.open[0]).toBe(Number.POSITIVE_INFINITY)
})

test('a price with more decimals than its scale is found, the noise of doubles is not', () => {
  const at = (price: number) => ({
    time: feedSeconds(0),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: 0,
  })
  expect(beyondScale(barsOf([at(0.1 + 0.2), at(1.1 * 3)]), 1)).toEqual([])
  expect(beyondScale(barsOf([at(1.25), at(1.255)]), 2)).toEqual([1])
  expect(beyondScale(barsOf([at(Number.NaN)]), 2)).toEqual([])
})
