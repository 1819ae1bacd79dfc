import { expect, test } from 'vitest'
import type { RevisedBar } from '../../services/core/bar.ts'
import { feedSeconds } from '../../services/core/feed-clock.ts'
import { checkHistory, type Reading } from './check-history.ts'

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
const complaintsOf = (...stored: RevisedBar[]): string =>
  checkHistory(sent, new Map([['EURUSD', stored]])).join()

test('what was acknowledged is enough; what was only sent may be there or not', () => {
  expect(complaintsOf(barOf(60, 2), barOf(120, 1))).toBe('')
  expect(complaintsOf(barOf(60, 2), barOf(120, 2), barOf(180, 1))).toBe('')
})

test.each([
  ['an acknowledged bar is lost', [barOf(60, 2)], 'at 120 was acknowledged and is not there'],
  ['the whole series is lost', [], 'at 60 was acknowledged'],
  ['an older revision came back', [barOf(60, 1), barOf(120, 1)], 'has revision 1; 2 was acknowledged'],
  ['a bar is there twice', [barOf(60, 2), barOf(60, 2), barOf(120, 1)], 'at 60 is there twice'],
  ['two readings are mixed', [{ ...barOf(60, 2), close: 1.01 }, barOf(120, 1)], 'holds what nobody sent'],
  ['a bar is invented', [barOf(60, 2), barOf(120, 1), barOf(240, 1)], 'at 240 holds what nobody sent'],
])('it notices that %s', (_what, stored, complaint) => {
  expect(complaintsOf(...stored)).toContain(complaint)
})
