import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barsOf } from '../core/bars/bar.ts'
import { fromInteger } from '../core/bars/prices.ts'
import { feedSeconds } from '../core/clocks/feed-clock.ts'
import { barsAboveScale } from './bars-above-scale.ts'

const at = (price: number) => ({
  time: feedSeconds(0),
  open: price,
  high: price,
  low: price,
  close: price,
  volume: 0,
})

test('a price with more decimals than its scale is found, and rounding errors of doubles are not', () => {
  expect(barsAboveScale(barsOf([at(0.1 + 0.2), at(1.1 * 3)]), 1)).toEqual([])
  expect(barsAboveScale(barsOf([at(1.25), at(1.255)]), 2)).toEqual([1])
  expect(barsAboveScale(barsOf([at(Number.NaN)]), 2)).toEqual([])
})

test('a price of 15 digits never has more decimals than its own scale', () => {
  expect(barsAboveScale(barsOf([at(153_978.463_076_27)]), 8)).toEqual([])
  expect(barsAboveScale(barsOf([at(69_527.334_983_396)]), 9)).toEqual([])
  const units = fc.integer({ min: 1, max: 1e15 - 1 })
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 11 }), (integer, scale) => {
      expect(barsAboveScale(barsOf([at(fromInteger(integer, scale))]), scale)).toEqual([])
    }),
  )
})
