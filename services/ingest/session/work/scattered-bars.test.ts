import { expect, test } from 'vitest'
import { barsOf } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import type { GoodSeries } from '../../check/check-batch.ts'
import { ScatteredBars } from './scattered-bars.ts'

const feed = feedKey('BROKERA', 'ZERO')
const symbol = compoundKey(feed, 'EURUSD')

const batchOf = (first: number, count: number): GoodSeries => {
  const series = { feed, symbol, resolution: '1' as const }
  const bars = Array.from({ length: count }, (_, i) => ({
    time: feedSeconds((first + i) * 60),
    open: 1,
    high: 1,
    low: 1,
    close: 1,
    volume: 1,
    revision: 1,
  }))
  return { id: `1 ${symbol}`, series, scale: 5, bars: barsOf(bars) }
}

const window = (from: number, to: number, resolution: '1' | '5' = '1') => ({
  feed,
  symbol: undefined,
  resolution,
  from: feedSeconds(from * 60),
  to: feedSeconds(to * 60),
})

test('a window covers refused bars of its resolution until they were taken', () => {
  const scattered = new ScatteredBars()
  scattered.refused([batchOf(10, 2)])
  expect(scattered.inside(window(0, 11))).toBe(600)
  expect(scattered.inside(window(0, 10))).toBeUndefined()
  expect(scattered.inside(window(0, 99, '5'))).toBeUndefined()
  scattered.taken([batchOf(10, 1)])
  expect(scattered.inside(window(0, 99))).toBe(660)
  scattered.taken([batchOf(11, 1)])
  expect(scattered.inside(window(0, 99))).toBeUndefined()
})

test('a session that leaves more than 50,000 refused bars unsent ends; repeated bars count once', () => {
  const scattered = new ScatteredBars()
  for (let i = 0; i < 10; i++) scattered.refused([batchOf(i * 5_000, 5_000)])
  scattered.refused([batchOf(0, 5_000)])
  expect(() => scattered.refused([batchOf(50_000, 1)])).toThrow('wanted them sent by time')
})
