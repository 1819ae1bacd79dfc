import { expect, test } from 'vitest'
import { feedSeconds } from './feed-clock.ts'
import { newestByEnd } from './newest-bar.ts'

const day = Date.UTC(2026, 0, 5) / 1000
const lastTimes = (...entries: readonly (readonly [string, number])[]) =>
  new Map(entries.map(([id, time]) => [id, feedSeconds(time)]))

test('the newest bar of a feed is the one that ends last, not the one that opened last', () => {
  const times = lastTimes(['1 BROKERA:ZERO:EURUSD', day + 3_600], ['1D BROKERA:ZERO:EURUSD', day])
  expect(newestByEnd(times)).toEqual({ time: day, resolution: '1D' })
})

test('of bars that end together the shortest is the newest, whatever their order', () => {
  const entries = [
    ['60 BROKERA:ZERO:EURUSD', day + 82_800],
    ['1 BROKERA:ZERO:GBPUSD', day + 86_340],
    ['1D BROKERA:ZERO:EURUSD', day],
  ] as const
  for (const order of [entries, entries.toReversed()]) {
    expect(newestByEnd(lastTimes(...order))).toEqual({ time: day + 86_340, resolution: '1' })
  }
})

test('without a bar there is no newest one', () => expect(newestByEnd(new Map())).toBeUndefined())
