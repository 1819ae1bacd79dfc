import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { newestByOpen } from './newest-bar.ts'

const day = Date.UTC(2026, 0, 5) / 1000
const lastTimes = (...entries: readonly (readonly [string, number])[]) =>
  new Map(entries.map(([id, time]) => [id, feedSeconds(time)]))

test('the newest bar is the last to open, even if another one ends later', () => {
  const times = lastTimes(['1 BROKERA:ZERO:EURUSD', day + 3_600], ['1W BROKERA:ZERO:EURUSD', day - 86_400])
  expect(newestByOpen(times)).toEqual({ time: day + 3_600, resolution: '1' })
})

test('of bars with one open time the longest is the newest, whatever their order', () => {
  const entries = [
    ['60 BROKERA:ZERO:EURUSD', day],
    ['1D BROKERA:ZERO:EURUSD', day],
    ['1 BROKERA:ZERO:GBPUSD', day],
    ['1M BROKERA:ZERO:GBPUSD', day - 4 * 86_400],
  ] as const
  for (const order of [entries, entries.toReversed()]) {
    expect(newestByOpen(lastTimes(...order))).toEqual({ time: day, resolution: '1D' })
  }
})

test('without bars the newest bar is undefined', () => expect(newestByOpen(new Map())).toBeUndefined())
