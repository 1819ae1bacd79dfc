import { expect, test } from 'vitest'
import { barsOf } from '../core/bars/bar.ts'
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
