import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { OutageShare } from './outage-share.ts'

const minuteMs = 60_000
const noonMs = utcMs(Date.UTC(2026, 0, 5, 12))
const rates = { rpm: 40, rpd: 1_000 }

/** How many of a hundred requests at one moment one pod admits. */
function admittedByShare(share: OutageShare, limits: typeof rates, pods: number, nowMs = noonMs): number {
  const decide = () => share.decide('admit', 'key', limits, nowMs, pods).outcome
  return Array.from({ length: 100 }, decide).filter((outcome) => outcome === 'admitted').length
}

test('in a minute all pods together admit at most the limit and one per pod', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 9 }), (rpm, pods) => {
      const each = () => admittedByShare(new OutageShare(), { rpm, rpd: 1 }, pods)
      const sum = Array.from({ length: pods }, each).reduce((total, admitted) => total + admitted, 0)
      expect(sum).toBeGreaterThan(Math.max(rpm - pods, pods - 1))
      expect(sum).toBeLessThanOrEqual(rpm + pods)
    }),
  )
})

test.each([
  [{ rpm: 60, rpd: 1_000 }, 4, 15],
  [{ rpm: 59, rpd: 1_000 }, 4, 14],
  [{ rpm: 60, rpd: 1 }, 4, 15],
  [{ rpm: 3, rpd: 1_000 }, 9, 1],
])('with the limits %j one of %i pods admits %i, whatever the day', (limits, pods, admitted) => {
  expect(admittedByShare(new OutageShare(), limits, pods)).toBe(admitted)
})

test('a share is used up for its minute and its key only', () => {
  const share = new OutageShare()
  expect(admittedByShare(share, rates, 2)).toBe(20)
  expect(admittedByShare(share, rates, 2, utcMs(noonMs + minuteMs - 1))).toBe(0)
  expect(share.decide('admit', 'other', rates, noonMs, 2)).toMatchObject({ outcome: 'admitted' })
  expect(admittedByShare(share, rates, 2, utcMs(noonMs + minuteMs))).toBe(20)
})

test('the headers show what remains of the share, and the whole day', () => {
  const state = {
    limitMinute: 40,
    resetMinute: (noonMs + minuteMs) / 1_000,
    limitDay: 1_000,
    remainingDay: 1_000,
  }
  expect(new OutageShare().decide('admit', 'key', rates, noonMs, 2)).toEqual({
    outcome: 'admitted',
    state: { ...state, remainingMinute: 19 },
  })
})

test.each([
  [0, 2],
  [58_500, 2],
  [59_500, 1],
])('%i ms after the start of the minute a request above the share may be repeated in %i s', (ms, seconds) => {
  const share = new OutageShare()
  admittedByShare(share, rates, 2)
  expect(share.decide('admit', 'key', rates, utcMs(noonMs + ms), 2)).toMatchObject({
    outcome: 'refused',
    exceeded: 'minute',
    share: 20,
    retryAfterSeconds: seconds,
  })
})

test('observing consumes nothing and is never refused', () => {
  const share = new OutageShare()
  for (let i = 0; i < 3; i++) share.decide('observe', 'key', { rpm: 1, rpd: 1 }, noonMs, 1)
  expect(share.decide('admit', 'key', { rpm: 1, rpd: 1 }, noonMs, 1).outcome).toBe('admitted')
  expect(share.decide('observe', 'key', { rpm: 1, rpd: 1 }, noonMs, 1)).toMatchObject({
    outcome: 'admitted',
    state: { remainingMinute: 0 },
  })
})
