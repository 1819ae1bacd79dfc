import { expect, test } from 'vitest'
import { countText, numberText, offsetText, spanText, timeOf, timeText } from './words.ts'

test.for([
  [0, '0 s'],
  [59.6, '1 min'],
  [3_599, '59 min 59 s'],
  [7_260, '2 h 1 min'],
  [347_155_200, '4,018 d'],
] as const)('%i seconds are %s', ([seconds, text]) => expect(spanText(seconds)).toBe(text))

test.for([
  [undefined, 'unknown'],
  [0, 'equals UTC'],
  [-10_800, '3 h ahead of UTC'],
  [347_155_200, '4,018 d behind UTC'],
] as const)('a clock with the offset %s is said to be: %s', ([offset, text]) =>
  expect(offsetText(offset)).toBe(text),
)

test('thousands are separated in the whole part only', () => {
  expect([999, 1_000, 1_234_567, 1_234.56789].map(numberText)).toEqual([
    '999',
    '1,000',
    '1,234,567',
    '1,234.56789',
  ])
})

test('one symbol is not 1 symbols', () => {
  expect([0, 1, 1_622].map((count) => countText(count, 'symbol'))).toEqual([
    '0 symbols',
    '1 symbol',
    '1,622 symbols',
  ])
})

test('a time is written and read on the same clock, whatever the zone of the machine', () => {
  expect(timeText(1_767_607_320)).toBe('2026-01-05 10:02')
  expect(timeText(1_767_607_320, true)).toBe('2026-01-05')
  expect(timeOf('2026-01-05T10:02')).toBe(1_767_607_320)
  expect(timeOf('2026-01-05')).toBe(1_767_571_200)
  expect([timeOf(''), timeOf('soon'), timeOf('2026-13-01')]).toEqual([undefined, undefined, undefined])
})
