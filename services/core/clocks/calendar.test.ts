import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dateOfSeconds, dateText, daySeconds, parseDate, secondsOfDate } from './calendar.ts'

const seconds = fc.integer({ min: -5_000_000_000, max: 200_000_000_000 })

test('dates agree with the platform calendar, leap years included', () => {
  fc.assert(
    fc.property(seconds, (at) => {
      const date = new Date(at * 1_000)
      const expected = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
      expect(dateOfSeconds(at)).toEqual(expected)
      expect(secondsOfDate(expected)).toBe(Math.floor(at / daySeconds) * daySeconds)
    }),
  )
})

test('a month after December is one of the next year', () => {
  expect(secondsOfDate({ year: 2024, month: 13, day: 1 })).toBe(Date.UTC(2025, 0, 1) / 1_000)
})

test('parsing the text of a date returns the date', () => {
  fc.assert(
    fc.property(seconds, (at) => {
      expect(parseDate(dateText(at))).toBe(Math.floor(at / daySeconds) * daySeconds)
    }),
  )
})

test.each([
  '2023-02-29',
  '2024-13-01',
  '2024-00-10',
  '2024-1-1',
  '2024-01-01 ',
  '24-01-01',
  '2024-04-31',
  '',
])('"%s" is no date', (text) => {
  expect(parseDate(text)).toBeUndefined()
})
