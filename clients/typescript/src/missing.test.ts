import { expect, test } from 'vitest'
import { missing } from './missing.ts'

test('minutes that no range has are missing, up to the last one before the end', () => {
  expect(
    missing(
      [
        { from: 0, to: 60 },
        { from: 180, to: 240 },
      ],
      60,
      360,
    ),
  ).toEqual([
    { from: 120, to: 120 },
    { from: 300, to: 300 },
  ])
})

test('without ranges everything is missing', () => {
  expect(missing([], 59, 240)).toEqual([{ from: 60, to: 180 }])
})

test('nothing is missing before the first range, within a range, in a hole of more than a day, and where nothing is wanted', () => {
  expect(missing([{ from: 600, to: 660 }], 0, 720)).toEqual([])
  expect(missing([{ from: 0, to: 660 }], 120, 300)).toEqual([])
  expect(
    missing(
      [
        { from: 0, to: 60 },
        { from: 90_000, to: 90_060 },
      ],
      80_000,
      90_120,
    ),
  ).toEqual([])
  expect(missing([], 60, 120)).toEqual([])
})
