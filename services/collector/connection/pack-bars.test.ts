import { expect, test } from 'vitest'
import { barsOf } from '../../core/bars/bar.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { OutgoingBars } from '../series/bar-router.ts'
import { packBars } from './pack-bars.ts'

const part = (symbol: string, ...bars: [time: number, close: number, revision: number][]): OutgoingBars => ({
  symbol,
  resolution: '1',
  scale: 0,
  bars: barsOf(
    bars.map(([time, close, revision]) => ({
      time: feedSeconds(time),
      open: 1,
      high: 9,
      low: 1,
      close,
      volume: 1,
      revision,
    })),
  ),
})

const contents = (list: readonly OutgoingBars[], barsMax?: number) =>
  [...packBars(list, barsMax)].map(({ parts }) =>
    parts.map(({ item: { symbol }, bars: { time, close } }) => ({
      symbol,
      time: [...time],
      close: [...close],
    })),
  )

test('a series that is listed several times is in a message once, with all its bars in time order', () => {
  const list = [part('A', [60, 1, 7]), part('B', [60, 1, 7]), part('A', [120, 2, 8]), part('A', [180, 3, 9])]
  expect(contents(list)).toEqual([
    [
      { symbol: 'A', time: [60, 120, 180], close: [1, 2, 3] },
      { symbol: 'B', time: [60], close: [1] },
    ],
  ])
  expect(contents(list, 2)).toEqual([
    [{ symbol: 'A', time: [60, 120], close: [1, 2] }],
    [
      { symbol: 'A', time: [180], close: [3] },
      { symbol: 'B', time: [60], close: [1] },
    ],
  ])
})

test('a message has bars of one resolution', () => {
  const hour = (symbol: string): OutgoingBars => ({ ...part(symbol, [3_600, 1, 7]), resolution: '60' })
  const list = [part('A', [60, 1, 7]), hour('A'), part('B', [60, 1, 7]), hour('B')]
  const packed = [...packBars(list)]
  expect(
    packed.map(({ resolution, parts }) => [resolution, parts.map(({ item: { symbol } }) => symbol)]),
  ).toEqual([
    ['1', ['A', 'B']],
    ['60', ['A', 'B']],
  ])
})

test('of two readings of one bar the later one is sent, also when both are derived', () => {
  expect(contents([part('A', [60, 1, 7]), part('A', [60, 2, 8])])).toEqual([
    [{ symbol: 'A', time: [60], close: [2] }],
  ])
  expect(contents([part('A', [60, 1, 1]), part('A', [60, 2, 1])])).toEqual([
    [{ symbol: 'A', time: [60], close: [2] }],
  ])
})

test('bars that are far apart are in messages of at most 32 partitions, in time order', () => {
  const week = 7 * 86_400
  const weekly = (symbol: string, count: number): OutgoingBars =>
    part(symbol, ...Array.from({ length: count }, (_, i) => [i * week, 1, 7] as [number, number, number]))
  const sizes = [...packBars([weekly('A', 70), weekly('B', 20), weekly('C', 6)])].map(({ parts }) =>
    parts.map(({ item, bars }) => [item.symbol, bars.time[0], bars.time.length]),
  )
  expect(sizes).toEqual([
    [['A', 0, 32]],
    [['A', 32 * week, 32]],
    [
      ['A', 64 * week, 6],
      ['B', 0, 20],
      ['C', 0, 6],
    ],
  ])
})
