import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, durationSeconds, type Resolution, resolutions } from './resolution.ts'

const at = (iso: string) => feedSeconds(Date.parse(`${iso}Z`) / 1_000)
const resolution = fc.constantFrom(...resolutions)
const time = fc.integer({ min: 0, max: 4_000_000_000 }).map(feedSeconds)

test.each<[Resolution, string, string]>([
  ['1', '2024-02-29T23:59:00', '2024-03-01T00:00:00'],
  ['240', '2024-01-05T20:00:00', '2024-01-06T00:00:00'],
  ['1D', '2024-02-28T00:00:00', '2024-02-29T00:00:00'],
  ['1W', '2024-12-29T00:00:00', '2025-01-05T00:00:00'],
  ['1M', '2024-02-01T00:00:00', '2024-03-01T00:00:00'],
  ['1M', '2023-12-01T00:00:00', '2024-01-01T00:00:00'],
])('a %s bar of %s ends at %s', (r, open, end) => {
  expect(barEnd(at(open), r)).toBe(at(end))
})

test('a bar ends at least its nominal duration after its open, except for months', () => {
  fc.assert(
    fc.property(time, resolution, (open, r) => {
      expect(barEnd(open, r)).toBeGreaterThan(open)
      if (r !== '1M') expect(barEnd(open, r) - open).toBe(durationSeconds[r])
    }),
  )
})
