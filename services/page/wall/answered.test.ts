import { expect, test } from 'vitest'
import { answeredMinutes, missingMinutes, runsOf } from './answered.ts'

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

test('missing minutes are those before, between and behind the ranges of a day', () => {
  const ranges = [
    { from: at(0, '10:00'), to: at(1, '00:02') },
    { from: at(1, '10:00'), to: at(1, '23:58') },
  ]
  expect(missingMinutes(ranges, day)).toEqual([
    { from: at(1, '00:03'), to: at(1, '09:59') },
    { from: at(1, '23:59'), to: at(1, '23:59') },
  ])
  expect(missingMinutes([], day)).toEqual([{ from: day, to: at(1, '23:59') }])
  expect(missingMinutes([{ from: 0, to: 9 * day }], day)).toEqual([])
})

test('for every range, answered and missing minutes of a day make 1,440', () => {
  for (let begin = 0; begin < 2_880; begin += 97)
    for (let length = 0; length < 2_000; length += 131) {
      const ranges = [{ from: begin * 60, to: (begin + length) * 60 }]
      const missing = missingMinutes(ranges, day).reduce((sum, { from, to }) => sum + (to - from) / 60 + 1, 0)
      expect((answeredMinutes(ranges, day, 1)[0] ?? 0) + missing).toBe(1_440)
    }
})

test('days with the same state are one run', () => {
  expect(runsOf([1_440, 1_440, 3, 0, 0, 1_440])).toEqual([
    { state: 'full', at: 0, length: 2 },
    { state: 'part', at: 2, length: 1 },
    { state: 'none', at: 3, length: 2 },
    { state: 'full', at: 5, length: 1 },
  ])
})
