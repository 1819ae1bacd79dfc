import { expect, test } from 'vitest'
import { answeredMinutes, knownMinutes, knownUntil, missingMinutes, runsOf, statesOf } from './answered.ts'

const day = 86_400
const at = (days: number, clock: string): number => days * day + Date.parse(`1970-01-01T${clock}Z`) / 1_000

test('a range over days fills the days between, and parts of its first and last day', () => {
  const ranges = [{ from: at(1, '23:59'), to: at(4, '00:01') }]
  expect(answeredMinutes(ranges, 0, 6)).toEqual([0, 1, 1_440, 1_440, 2, 0])
})

test('ranges of one day add up, and what lies outside of the days counts nowhere', () => {
  const ranges = [
    { from: at(0, '00:00'), to: at(2, '00:00') },
    { from: at(2, '12:00'), to: at(2, '12:09') },
    { from: at(9, '00:00'), to: at(10, '00:00') },
  ]
  expect(answeredMinutes(ranges, 2 * day, 2)).toEqual([11, 0])
})

test('missing minutes are those before and between the ranges of a day, and none behind the last range', () => {
  const ranges = [
    { from: at(0, '10:00'), to: at(1, '00:02') },
    { from: at(1, '10:00'), to: at(1, '23:57') },
    { from: at(1, '23:59'), to: at(2, '10:00') },
  ]
  const until = knownUntil(ranges, at(9, '00:00'))
  expect(missingMinutes(ranges, day, until)).toEqual([
    { from: at(1, '00:03'), to: at(1, '09:59') },
    { from: at(1, '23:58'), to: at(1, '23:58') },
  ])
  expect(missingMinutes(ranges, 2 * day, until)).toEqual([])
  expect(missingMinutes(ranges, 3 * day, until)).toEqual([])
})

test('of a symbol without any range the minutes up to now are missing', () => {
  const until = knownUntil([], at(1, '10:01') + 30)
  expect(missingMinutes([], 0, until)).toEqual([{ from: 0, to: at(0, '23:59') }])
  expect(missingMinutes([], day, until)).toEqual([{ from: day, to: at(1, '10:00') }])
})

test('answered and missing minutes of a day together are all its known minutes', () => {
  for (let begin = 0; begin < 2_880; begin += 97)
    for (let length = 0; length < 2_000; length += 131) {
      const ranges = [{ from: begin * 60, to: (begin + length) * 60 }]
      const until = knownUntil(ranges, 9 * day)
      const missing = missingMinutes(ranges, day, until).reduce(
        (sum, { from, to }) => sum + (to - from) / 60 + 1,
        0,
      )
      const [answered = 0] = answeredMinutes(ranges, day, 1)
      expect(answered + missing).toBe(knownMinutes(day, until))
    }
})

test('today is open while nothing is missing, and so are the days since the last bar', () => {
  const friday = [{ from: 0, to: at(2, '10:00') }]
  expect(statesOf(friday, 0, 5, at(4, '12:00'))).toEqual(['full', 'full', 'open', 'open', 'open'])
  const withGap = [...friday, { from: at(2, '10:02'), to: at(2, '10:03') }]
  expect(statesOf(withGap, 0, 4, at(3, '12:00'))).toEqual(['full', 'full', 'part', 'open'])
})

test('a day between ranges has no minute, and so has each day of a symbol without ranges', () => {
  const ranges = [
    { from: 0, to: at(0, '23:59') },
    { from: at(2, '00:00'), to: at(2, '00:05') },
  ]
  expect(statesOf(ranges, 0, 3, at(2, '00:06'))).toEqual(['full', 'none', 'open'])
  expect(statesOf([], 0, 2, at(1, '00:01'))).toEqual(['none', 'none'])
})

test('days with the same state are one run', () => {
  expect(runsOf(['full', 'full', 'part', 'none', 'none', 'full'])).toEqual([
    { state: 'full', at: 0, length: 2 },
    { state: 'part', at: 2, length: 1 },
    { state: 'none', at: 3, length: 2 },
    { state: 'full', at: 5, length: 1 },
  ])
})
