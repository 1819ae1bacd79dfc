import { expect, test } from 'vitest'
import { type FeedClock, utcMs } from '../clocks/feed-clock.ts'
import { feedKey } from '../feeds/compound-key.ts'
import type { FeedDefinition } from '../feeds/feed.ts'
import { type ClockReading, knownClock, readingOfDefinition, readingOfMeasure } from './clock-history.ts'

const feed = feedKey('BROKERA', 'ZERO')
const define = (clock: FeedClock): FeedDefinition => ({ key: feed, clock }) as FeedDefinition
const fixed = (offsetSeconds: number): FeedClock => ({ mode: 'Fixed', offsetSeconds })
const reading = (offsetSeconds: number, since: number, measuredAt?: number): ClockReading => ({
  feed,
  source: measuredAt === undefined ? 'Fixed' : 'Measured',
  offsetSeconds,
  since: utcMs(since),
  ...(measuredAt !== undefined && { measuredAt: utcMs(measuredAt) }),
})

test('a fixed clock adds one reading, and another one only when its offset changes', () => {
  expect(readingOfDefinition(define(fixed(-10_800)), [], utcMs(5))).toEqual(reading(-10_800, 5))
  expect(readingOfDefinition(define({ mode: 'UTC' }), [], utcMs(5))).toEqual(reading(0, 5))
  const history = [reading(-7_200, 1), reading(-10_800, 5)]
  expect(readingOfDefinition(define(fixed(-10_800)), history, utcMs(9))).toBeUndefined()
  expect(readingOfDefinition(define(fixed(-7_200)), history, utcMs(9))).toEqual(reading(-7_200, 9))
})

test('readings stay in order when the clock of the machine is set back', () => {
  expect(readingOfDefinition(define(fixed(0)), [reading(60, 500)], utcMs(9))).toEqual(reading(0, 501))
})

test('a measured clock adds no reading by its definition, and is unknown until it was measured', () => {
  const measured = define({ mode: 'Measured' })
  expect(readingOfDefinition(measured, [], utcMs(5))).toBeUndefined()
  expect(knownClock(measured, [])).toBeUndefined()
  expect(knownClock(measured, [reading(-10_800, 1)])).toBeUndefined()
  expect(knownClock(measured, [reading(-7_200, 1, 4)])).toMatchObject({
    offsetSeconds: -7_200,
    measuredAt: 4,
  })
})

test('a clock that is fixed after a measurement has the offset of its definition, without an age', () => {
  const history = [reading(-7_200, 1, 4)]
  expect(knownClock(define(fixed(0)), history)).toEqual({ offsetSeconds: 0 })
  expect(readingOfDefinition(define(fixed(-7_200)), history, utcMs(9))).toEqual(reading(-7_200, 9))
})

test('a measured offset adds a reading; measuring it again only renews its age, once an hour', () => {
  const measured = define({ mode: 'Measured' })
  const take = (history: readonly ClockReading[], offset: number, now: number) =>
    readingOfMeasure(measured, history, offset, utcMs(now))
  expect(take([], -7_200, 5)).toEqual(reading(-7_200, 5, 5))
  expect(take([reading(-7_200, 5, 5)], -7_200, 3_600_004)).toBeUndefined()
  expect(take([reading(-7_200, 5, 5)], -7_200, 3_600_005)).toEqual(reading(-7_200, 5, 3_600_005))
  expect(take([reading(-7_200, 5, 5)], -10_800, 9)).toEqual(reading(-10_800, 9, 9))
  // From the time when the definition fixed it.
  expect(take([reading(-7_200, 5)], -7_200, 9)).toEqual(reading(-7_200, 9, 9))
  expect(readingOfMeasure(define(fixed(0)), [], -7_200, utcMs(9))).toBeUndefined()
})
