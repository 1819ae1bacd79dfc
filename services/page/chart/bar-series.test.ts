import { describe, expect, test } from 'vitest'
import type { Bar } from '../../../clients/typescript/src/types.ts'
import { BarSeries } from './bar-series.ts'

const bar = (time: number, close = 1): Bar => ({ time, open: 1, high: 3, low: 0.5, close, volume: 10 })
const times = (series: BarSeries): number[] => series.bars.map(({ time }) => time)

describe('history', () => {
  test('older pages come before, newer ones behind, and equal times are replaced', () => {
    const series = new BarSeries('1')
    series.merge([bar(120), bar(180)])
    series.merge([bar(0), bar(60)])
    series.merge([bar(240)])
    series.merge([bar(60, 2), bar(180, 2)])
    expect(times(series)).toEqual([0, 60, 120, 180, 240])
    expect(series.bars.map(({ close }) => close)).toEqual([1, 2, 1, 2, 1])
  })
})

describe('live minutes', () => {
  test('of resolution 1 are bars, and one that history gave meanwhile is not added', () => {
    const series = new BarSeries('1')
    series.merge([bar(0)])
    expect(series.add(bar(60))).toBe(true)
    series.merge([bar(60), bar(120)])
    expect(series.add(bar(120))).toBe(false)
    expect(times(series)).toEqual([0, 60, 120])
  })

  test('are folded into the running bar, and history replaces it once it is closed', () => {
    const series = new BarSeries('5')
    series.merge([bar(0)])
    expect(series.add({ time: 300, open: 1, high: 2, low: 1, close: 2, volume: 5 })).toBe(true)
    expect(series.add({ time: 420, open: 2, high: 4, low: 0.2, close: 3, volume: 7 })).toBe(false)
    expect(series.last).toEqual({ time: 300, open: 1, high: 4, low: 0.2, close: 3, volume: 12 })
    expect(series.add(bar(600))).toBe(true)
    series.merge([bar(0), bar(300, 9)])
    expect(series.bars.map(({ time, close }) => [time, close])).toEqual([
      [0, 1],
      [300, 9],
      [600, 1],
    ])
  })

  test('of a bar that history has closed change nothing', () => {
    const series = new BarSeries('5')
    series.merge([bar(300)])
    expect(series.add(bar(420))).toBe(false)
    expect(series.bars).toEqual([bar(300)])
  })
})
