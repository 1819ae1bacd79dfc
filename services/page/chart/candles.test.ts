import { describe, expect, test } from 'vitest'
import type { Bar } from '../../../clients/typescript/src/types.ts'
import { Candles } from './candles.ts'

const bar = (time: number, close = 1): Bar => ({ time, open: 1, high: 3, low: 0.5, close, volume: 10 })
const times = (candles: Candles): number[] => candles.bars.map(({ time }) => time)

describe('history', () => {
  test('older pages come before, newer ones behind, and equal times are replaced', () => {
    const candles = new Candles('1')
    candles.merge([bar(120), bar(180)])
    candles.merge([bar(0), bar(60)])
    candles.merge([bar(240)])
    candles.merge([bar(60, 2), bar(180, 2)])
    expect(times(candles)).toEqual([0, 60, 120, 180, 240])
    expect(candles.bars.map(({ close }) => close)).toEqual([1, 2, 1, 2, 1])
  })
})

describe('live minutes', () => {
  test('of resolution 1 are bars, and one that history gave meanwhile is not added', () => {
    const candles = new Candles('1')
    candles.merge([bar(0)])
    expect(candles.add(bar(60))).toBe(true)
    candles.merge([bar(60), bar(120)])
    expect(candles.add(bar(120))).toBe(false)
    expect(times(candles)).toEqual([0, 60, 120])
  })

  test('are folded into the running bar, and history replaces it once it is closed', () => {
    const candles = new Candles('5')
    candles.merge([bar(0)])
    expect(candles.add({ time: 300, open: 1, high: 2, low: 1, close: 2, volume: 5 })).toBe(true)
    expect(candles.add({ time: 420, open: 2, high: 4, low: 0.2, close: 3, volume: 7 })).toBe(false)
    expect(candles.last).toEqual({ time: 300, open: 1, high: 4, low: 0.2, close: 3, volume: 12 })
    expect(candles.add(bar(600))).toBe(true)
    candles.merge([bar(0), bar(300, 9)])
    expect(candles.bars.map(({ time, close }) => [time, close])).toEqual([
      [0, 1],
      [300, 9],
      [600, 1],
    ])
  })

  test('of a bar that history has closed change nothing', () => {
    const candles = new Candles('5')
    candles.merge([bar(300)])
    expect(candles.add(bar(420))).toBe(false)
    expect(candles.bars).toEqual([bar(300)])
  })
})
