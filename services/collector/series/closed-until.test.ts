import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isClosed } from '../../core/bars/closed.ts'
import { bucketOpen } from '../../core/bars/derive.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { durationSeconds, storedResolutions } from '../../core/feeds/resolution.ts'
import { closedUntil } from './closed-until.ts'

const now = fc.integer({ min: 1_000_000_000, max: 2_000_000_000 }).map(feedSeconds)
const delay = fc.constantFrom(0, 900)

test('bars before the returned time have closed, and the bar at it may still be forming', () => {
  fc.assert(
    fc.property(fc.constantFrom(...storedResolutions), now, delay, (r, at, delaySeconds) => {
      const until = closedUntil(r, at, delaySeconds)
      const grid = r === '1M' ? 0 : durationSeconds[r] <= 1_800 ? durationSeconds[r] : 60
      const before = r === '1M' ? bucketOpen(feedSeconds(until - 1), r) : feedSeconds(until - grid)
      const moment = { now: at, newest: undefined, delaySeconds }
      expect(isClosed(before, r, moment)).toBe(true)
      // `isClosed` has a tolerance of five seconds; a claim has none.
      expect(isClosed(until, r, { ...moment, now: feedSeconds(at - 5) })).toBe(false)
    }),
  )
})
