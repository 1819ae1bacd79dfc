import { expect, test } from 'vitest'
import { cellText } from './cell-text.ts'

const at = (text: string): number => Date.parse(`${text}Z`) / 1_000
const friday = at('2026-11-27T00:00')
const saturday = at('2026-11-28T00:00')

test('at 10:01 today misses nothing, and its later minutes are not known yet', () => {
  const ranges = [{ from: friday, to: at('2026-11-28T10:00') }]
  expect(cellText(ranges, saturday, at('2026-11-28T10:01'))).toEqual({
    words:
      '601 of 1,440 minutes were answered. Nothing is missing. Minutes from 10:01 on are not known yet: the next bar decides.',
    from: saturday,
    to: at('2026-11-28T10:00'),
  })
})

test('on a Sunday the Saturday is not known yet, and its program asks for the whole day', () => {
  const ranges = [{ from: friday, to: at('2026-11-27T23:50') }]
  expect(cellText(ranges, saturday, at('2026-11-29T12:00'))).toEqual({
    words: '0 of 1,440 minutes were answered. This day is not known yet: the next bar decides.',
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

test('a program never asks for a time after now, also in the first minute of a day', () => {
  for (const ranges of [[], [{ from: friday, to: at('2026-11-27T10:00') }]])
    for (const now of [saturday, saturday + 59, saturday + 3_600]) {
      const { from, to } = cellText(ranges, saturday, now)
      expect(from).toBeLessThanOrEqual(to)
      expect(to).toBeLessThanOrEqual(now)
    }
})
