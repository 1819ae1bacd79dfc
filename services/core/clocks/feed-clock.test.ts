import { expect, test } from 'vitest'
import { feedNow, feedSeconds, fixedOffset, toFeed, toSeconds, utcMs } from './feed-clock.ts'

test('real UTC is the feed timestamp plus the offset: a UTC+3 broker shows 15:00 at noon', () => {
  const noon = toSeconds(utcMs(Date.UTC(2026, 10, 20, 12)))
  expect(toFeed(noon, -10_800)).toBe(Date.UTC(2026, 10, 20, 15) / 1_000)
})

test('an unknown offset is never 0', () => {
  expect(fixedOffset({ mode: 'UTC' })).toBe(0)
  expect(fixedOffset({ mode: 'Fixed', offsetSeconds: -10_800 })).toBe(-10_800)
  expect(fixedOffset({ mode: 'Measured' })).toBeUndefined()
})

test("while the offset is unknown, now on the feed's clock is its newest tick, and undefined before any", () => {
  const now = utcMs(1_700_000_000_999)
  const tick = feedSeconds(1_600_000_000)
  expect(feedNow(now, -10_800, tick)).toBe(1_700_010_800)
  expect(feedNow(now, undefined, tick)).toBe(tick)
  expect(feedNow(now, undefined, undefined)).toBeUndefined()
  expect(toSeconds(now)).toBe(1_700_000_000)
})
