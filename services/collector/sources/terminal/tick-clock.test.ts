import { expect, test } from 'vitest'
import { createVirtualClock } from '../../../../test/support/fixtures/virtual-clock.ts'
import { type FeedClock, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { TickClock } from './tick-clock.ts'

const start = Date.UTC(2026, 0, 5, 12)
const hour = 3_600

/** `tick` takes a tick of the present second of a clock that is `ahead` of UTC. */
function open(feedClock: FeedClock = { mode: 'Measured' }) {
  const clock = createVirtualClock({ start })
  const ticks = new TickClock(feedClock, clock)
  const tick = (ahead: number): boolean => ticks.take(feedSeconds(clock.utcMs() / 1_000 + ahead))
  return { clock, ticks, tick }
}

test('an old tick after a reconnect is ignored', async () => {
  const { clock, tick } = open()
  expect(tick(2 * hour)).toBe(true)
  await clock.advance(1_000)
  for (const late of [10, 600, 1_200, 50 * hour]) expect(tick(2 * hour - late)).toBe(false)
  expect(tick(2 * hour)).toBe(true)
})

test('a tick that is repeated is no new one', () => {
  const { tick } = open()
  expect(tick(0)).toBe(true)
  expect(tick(0)).toBe(false)
})

test('a clock that was set back is noticed after a minute of ticks', async () => {
  const { clock, ticks, tick } = open()
  tick(3 * hour)
  const moved: boolean[] = []
  for (let i = 0; i < 8; i++) {
    await clock.advance(10_000)
    moved.push(tick(2 * hour))
  }
  expect(moved).toEqual([false, false, false, false, false, false, true, true])
  expect(ticks.endedWithoutTick).toBe(clock.utcMs() / 1_000 + 2 * hour - 5)
})

test('an old tick that is repeated for long does not set the clock back', async () => {
  const { clock, ticks, tick } = open()
  tick(0)
  const old = feedSeconds(start / 1_000 - hour)
  for (let i = 0; i < 10; i++) {
    await clock.advance(60_000)
    expect(ticks.take(old)).toBe(false)
  }
})

test('without ticks bars end five seconds late by the clock as the ticks showed it', async () => {
  const { clock, ticks, tick } = open()
  expect(ticks.endedWithoutTick).toBeUndefined()
  tick(2 * hour - 3)
  tick(2 * hour)
  await clock.advance(600_000)
  expect(ticks.endedWithoutTick).toBe(start / 1_000 + 600 + 2 * hour - 5)
})

test('a clock that the manifest fixes needs no tick', () => {
  const { ticks } = open({ mode: 'Fixed', offsetSeconds: -7_200 })
  expect(ticks.endedWithoutTick).toBe(start / 1_000 + 7_200 - 5)
})
