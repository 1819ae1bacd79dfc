import fc from 'fast-check'
import { expect, test } from 'vitest'
import { durationMs, durationText } from './duration.ts'

test('parsing the text of a duration returns the duration', () => {
  expect([7_776_000, 3_600, 90, 0].map(durationText)).toEqual(['90d', '1h', '90s', '0s'])
  fc.assert(
    fc.property(
      fc.oneof(
        fc.nat(10_000),
        fc.nat(10_000).map((days) => days * 86_400),
      ),
      (seconds) => {
        expect(durationMs(durationText(seconds))).toBe(seconds * 1_000)
      },
    ),
  )
})

test('a century is the longest duration', () => {
  expect(durationMs('36600d')).toBe(36_600 * 86_400_000)
  expect(durationMs('36601d')).toBeUndefined()
})
