import { expect, test } from 'vitest'
import { cellText } from './cell-text.ts'

const at = (text: string): number => Date.parse(`${text}Z`) / 1_000
const friday = at('2026-11-27T00:00')
const saturday = at('2026-11-28T00:00')

test('at 10:01 today misses nothing, and its later minutes are not known yet', () => {
  const ranges = [{ from: friday, to: at('2026-11-28T10:00') }]
  expect(cellText(ranges, saturday, at('2026-11-28T10:01'))).toEqual({
    words:
      '601 minutes were answered so far. Nothing is missing. Minutes from 10:01 on are not known yet: the next bar decides.',
    from: saturday,
    to: at('2026-11-28T10:00'),
  })
})

test('on a Sunday the Saturday is not known yet, and its program asks for the whole day', () => {
  const ranges = [{ from: friday, to: at('2026-11-27T23:50') }]
  expect(cellText(ranges, saturday, at('2026-11-29T12:00'))).toEqual({
    words: 'Not known yet: 0 minutes so far. The next bar decides.',
    from: saturday,
    to: at('2026-11-28T23:59'),
  })
})

test('a gap is named to its minutes, and the program asks for the gap', () => {
  const ranges = [
    { from: friday, to: at('2026-11-28T09:29') },
    { from: at('2026-11-28T10:00'), to: at('2026-11-28T11:00') },
    { from: at('2026-11-28T11:02'), to: at('2026-11-29T11:00') },
  ]
  expect(cellText(ranges, saturday, at('2026-11-29T12:00'))).toEqual({
    words: '1,409 of 1,440 minutes were answered. Not answered: 09:30–09:59, 11:01.',
    from: at('2026-11-28T09:30'),
    to: at('2026-11-28T11:01'),
  })
})

test('a day before the first minute says when that is, and a day between answers counts its minutes', () => {
  const ranges = [
    { from: at('2026-11-27T09:30'), to: at('2026-11-27T23:59') },
    { from: at('2026-11-29T00:00'), to: at('2026-11-29T11:00') },
  ]
  const wordsOf = (begin: string): string => cellText(ranges, at(begin), at('2026-11-29T12:00')).words
  expect(wordsOf('2026-11-26T00:00')).toBe('This day is before the first minute, 2026-11-27 09:30.')
  expect(wordsOf('2026-11-27T00:00')).toBe('870 of 1,440 minutes were answered. Not answered: 00:00–09:29.')
  expect(wordsOf('2026-11-28T00:00')).toBe('0 of 1,440 minutes were answered.')
  expect(cellText([], saturday, at('2026-11-28T10:00')).words).toBe(
    'No minute of this symbol was answered yet.',
  )
})

test('a program never asks for a time after now, also in the first minute of a day', () => {
  for (const ranges of [[], [{ from: friday, to: at('2026-11-27T10:00') }]])
    for (const now of [saturday, saturday + 59, saturday + 3_600]) {
      const { from, to } = cellText(ranges, saturday, now)
      expect(from).toBeLessThanOrEqual(to)
      expect(to).toBeLessThanOrEqual(now)
    }
})
