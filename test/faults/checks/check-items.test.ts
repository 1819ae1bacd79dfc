import { expect, test } from 'vitest'
import { checkItems, type GivenItem } from './check-items.ts'

const symbol = 'BROKERA:ZERO:EURUSD'
const bars = (...times: number[]): GivenItem[] => times.map((time) => ({ type: 'bar', symbol, time }))
const gap = (from: number, to: number, reason = 'unfilled'): GivenItem => ({
  type: 'gap',
  symbol,
  from,
  to,
  reason,
})
const history = new Map([[symbol, [60, 120, 180, 300]]])
const found = (...items: GivenItem[]) =>
  checkItems(items, history, 60).map(
    ({ kind, at, text }) => `${kind} ${at}: ${text.slice(symbol.length + 1)}`,
  )

test('each bar of history once and in order is right, also beside a gap of minutes that history lacks', () => {
  expect(found(...bars(60, 120, 180, 300))).toEqual([])
  expect(found(...bars(60, 120, 180), gap(240, 240), ...bars(300))).toEqual([])
})

test('a bar that is not given is missed, where the next bar comes or at the end', () => {
  expect(found(...bars(60, 180))).toEqual([
    'missed 1: at 120 was not given',
    'missed 2: at 300 was not given',
  ])
  expect(found()).toHaveLength(4)
})

test('a bar that is given again is found, and so is one that comes behind a later one', () => {
  expect(found(...bars(60, 120, 120, 180, 300))).toEqual(['twice 2: at 120 was given before'])
  expect(found(...bars(60, 180, 120, 300))).toEqual([
    'missed 1: at 120 was not given',
    'out of order 2: at 120 was given after 180',
  ])
})

test('a gap that names a bar of history is found once', () => {
  expect(found(...bars(60), gap(120, 180), ...bars(300))).toEqual([
    'gap 1: unfilled from 120 to 180; history has 2 of these bars',
  ])
})

test('a gap of a clock that fell back is found, since the clocks of these feeds never do', () => {
  expect(found(...bars(60, 120, 180), gap(240, 240, 'clock'), ...bars(300))).toEqual([
    'gap 3: clock from 240 to 240; history has 0 of these bars',
  ])
})

test('a bar that history lacks is found, and bars before the start are not looked for', () => {
  expect(found(...bars(60, 120, 180, 240, 300))).toEqual(['unknown 3: at 240 is not in history'])
  expect(checkItems(bars(180, 300), history, 180)).toEqual([])
})
