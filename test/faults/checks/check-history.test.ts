import { expect, test } from 'vitest'
import type { Bar, RevisedBar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { checkFold, checkHistory, type Reading } from './check-history.ts'

const barOf = (time: number, revision: number): RevisedBar => ({
  time: feedSeconds(time),
  open: 1,
  high: 3,
  low: 0.5,
  close: 1 + revision / 100,
  volume: revision,
  revision,
})
const reading = (time: number, revision: number, acked = true): Reading => ({
  symbol: 'EURUSD',
  bar: barOf(time, revision),
  acked,
})

const sent = [reading(60, 1), reading(60, 2), reading(120, 1), reading(120, 2, false), reading(180, 1, false)]
const complaintsOf = (...shown: Bar[]): string => checkHistory(sent, new Map([['EURUSD', shown]])).join()

test('history must have acknowledged bars, and may have bars that were only sent', () => {
  expect(complaintsOf(barOf(60, 2), barOf(120, 1))).toBe('')
  expect(complaintsOf(barOf(60, 2), barOf(120, 2), barOf(180, 1))).toBe('')
})

test.each([
  ['an acknowledged bar is lost', [barOf(60, 2)], 'at 120 was acknowledged and is not there'],
  ['the whole series is lost', [], 'at 60 was acknowledged'],
  ['an older revision is shown', [barOf(60, 1), barOf(120, 1)], 'has revision 1; 2 was acknowledged'],
  ['a bar is there twice', [barOf(60, 2), barOf(60, 2), barOf(120, 1)], 'at 60 is there twice'],
  ['bars are out of order', [barOf(120, 1), barOf(60, 2)], 'at 60 is there twice or out of order'],
  ['two readings are mixed', [{ ...barOf(60, 2), close: 1.01 }, barOf(120, 1)], 'was never sent'],
  ['a bar is invented', [barOf(60, 2), barOf(120, 1), barOf(240, 1)], 'at 240 was never sent'],
])('it notices that %s', (_what, shown, complaint) => {
  expect(complaintsOf(...shown)).toContain(complaint)
})

test('bars of a symbol that was never sent are a complaint', () => {
  const shown = new Map([
    ['EURUSD', [barOf(60, 2), barOf(120, 1)]],
    ['GBPUSD', [barOf(60, 1)]],
  ])
  expect(checkHistory(sent, shown).join()).toContain('GBPUSD was never sent')
})

/** The first minute is inside a bucket, so that bucket must not be shown. */
const minutes = [60, 1_740, 1_800, 1_860, 3_540, 7_200].map((time, i) => barOf(time, i + 1))
const folded = (time: number, [open, close]: [number, number], volume: number): Bar => {
  return { time: feedSeconds(time), open, high: 3, low: 0.5, close, volume }
}
const whole = [folded(1_800, [1, 1.05], 12), folded(7_200, [1, 1.06], 6)]
const foldComplaints = (...shown: Bar[]): string =>
  checkFold(new Map([['EURUSD', minutes]]), new Map([['EURUSD', shown]])).join()

test('30-minute bars that are the fold of their minutes cause no complaint', () => {
  expect(foldComplaints(...whole)).toBe('')
})

test.each([
  ['is missing', whole.slice(1), 'at 1800 is not there'],
  ['was folded before a correction', [folded(1_800, [1, 1.04], 12), whole[1]], 'at 1800 is {'],
  ['left a minute out', [folded(1_800, [1, 1.05], 8), whole[1]], 'at 1800 is {'],
  ['has no minutes', [...whole, folded(9_000, [1, 1], 1)], 'at 9000 has no minutes'],
  ['begins before the first minute', [folded(0, [1, 1.02], 3), ...whole], 'at 0 has no minutes'],
  ['is there twice', [whole[0], ...whole], 'at 1800 is there twice'],
])('it notices a 30-minute bar that %s', (_what, shown, complaint) => {
  expect(foldComplaints(...(shown as Bar[]))).toContain(complaint)
})
