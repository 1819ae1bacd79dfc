import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ascendingBars } from '../../../test/support/samples/arbitrary-bars.ts'
import { barCount, noBars, sliceBars, toList } from '../bars/bar.ts'
import { bucketOpen, foldBars } from '../bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { resolutions } from '../feeds/resolution.ts'
import { foldMinutes, runningOpen } from './running.ts'

const at = (iso: string): FeedSeconds => feedSeconds(Date.parse(`${iso}Z`) / 1_000)

test('a running bar follows the newest closed one where the broker opens its bars off the grid', () => {
  expect(runningOpen(at('2026-05-04T10:30'), '240', at('2026-05-04T05:00'))).toBe(at('2026-05-04T09:00'))
  expect(runningOpen(at('2026-05-04T10:30'), '1D', at('2026-05-01T00:00'))).toBe(at('2026-05-04T00:00'))
  expect(runningOpen(at('2026-05-04T10:30'), '1W', at('2026-04-26T00:00'))).toBe(at('2026-05-03T00:00'))
  expect(runningOpen(at('2026-05-04T10:30'), '1M', at('2026-04-01T00:00'))).toBe(at('2026-05-01T00:00'))
  expect(runningOpen(at('2026-05-04T10:30'), '240', undefined)).toBe(at('2026-05-04T08:00'))
})

test('minutes folded in any pieces are the bars of history', () => {
  const minutes = ascendingBars({ steps: 3 * 1_440, lengthMax: 60 })
  fc.assert(
    fc.property(minutes, fc.constantFrom(...resolutions), fc.nat(60), (m1, r, cut) => {
      const openOf = (minute: FeedSeconds) => bucketOpen(minute, r)
      const middle = Math.min(cut, barCount(m1))
      const first = foldMinutes([], sliceBars(m1, 0, middle), openOf)
      const whole = foldMinutes(
        first,
        middle < barCount(m1) ? sliceBars(m1, middle, barCount(m1)) : noBars,
        openOf,
      )
      expect(whole).toEqual(toList(foldBars(m1, r, { isClosed: () => true, firstStored: undefined })))
    }),
  )
})
