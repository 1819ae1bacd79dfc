import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { resolutions } from '../feeds/resolution.ts'
import { closeToleranceSeconds, hasEnded, isClosed } from './closed.ts'

const at = (iso: string) => feedSeconds(Date.parse(`${iso}Z`) / 1_000)
const resolution = fc.constantFrom(...resolutions)
const time = fc.integer({ min: 0, max: 4_000_000_000 }).map(feedSeconds)

test('a bar is closed from its end on, or up to five seconds earlier for clocks that differ', () => {
  const open = at('2024-01-05T10:00:00')
  const closedAt = (now: number) =>
    isClosed(open, '1', { now: feedSeconds(now), newest: undefined, delaySeconds: 0 })
  expect(closedAt(open + 60)).toBe(true)
  expect(closedAt(open + 60 - closeToleranceSeconds)).toBe(true)
  expect(closedAt(open + 60 - closeToleranceSeconds - 1)).toBe(false)
})

test('a bar has ended at its end, and not in the seconds before', () => {
  const open = at('2024-01-05T10:00:00')
  const endedAt = (now: number) => hasEnded(open, '1', { now: feedSeconds(now), delaySeconds: 0 })
  expect([endedAt(open + 59), endedAt(open + 60)]).toEqual([false, true])
})

test('a bar of a delayed symbol closes later, by the delay', () => {
  const open = at('2024-01-05T10:00:00')
  const closedAt = (now: number) =>
    isClosed(open, '1', { now: feedSeconds(now), newest: undefined, delaySeconds: 900 })
  expect(closedAt(open + 60 + 894)).toBe(false)
  expect(closedAt(open + 60 + 895)).toBe(true)
})

test('while the clock is unknown, only a later bar closes a bar', () => {
  const open = at('2024-01-05T10:00:00')
  const closed = (newest: number | undefined) =>
    isClosed(open, '1', {
      now: undefined,
      newest: newest === undefined ? undefined : feedSeconds(newest),
      delaySeconds: 0,
    })
  expect(closed(undefined)).toBe(false)
  expect(closed(open)).toBe(false)
  expect(closed(open + 60)).toBe(true)
})

test('a bar that is closed stays closed as time passes', () => {
  fc.assert(
    fc.property(
      time,
      resolution,
      time,
      fc.nat(1_000),
      fc.nat(1_000_000),
      (open, r, now, delaySeconds, later) => {
        const before = isClosed(open, r, { now, newest: undefined, delaySeconds })
        const after = isClosed(open, r, { now: feedSeconds(now + later), newest: undefined, delaySeconds })
        expect(!before || after).toBe(true)
      },
    ),
  )
})
