import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minuteBar, timeOf } from '../../../test/support/fixtures/stream-fixture.ts'
import { RecentBars } from './recent-bars.ts'

const minutesAfter = (recent: RecentBars, minute: number) =>
  recent.after(timeOf(minute)).map(({ volume }) => volume)

function remembering(...minutes: number[]): RecentBars {
  const recent = new RecentBars()
  for (const minute of minutes) recent.add(minuteBar(minute))
  return recent
}

test('after a loss, bars before the next one are not covered', () => {
  const recent = remembering(1, 2, 3, 4, 5)
  recent.restart()
  expect(recent.covers(timeOf(5))).toBe(false)
  recent.add(minuteBar(8))
  expect(recent.covers(timeOf(5))).toBe(false)
  expect(recent.covers(timeOf(7))).toBe(false)
  expect(recent.covers(timeOf(8))).toBe(true)
  recent.add(minuteBar(9))
  expect(minutesAfter(recent, 8)).toEqual([9])
})

test('a read of the store before a loss must be repeated, also for a symbol without bars', () => {
  const recent = remembering(1, 2)
  const other = new RecentBars()
  const [mark, unseen] = [recent.mark, other.mark]
  expect(recent.coversSince(mark)).toBe(true)
  recent.restart()
  other.restart()
  expect(recent.coversSince(mark)).toBe(false)
  expect(other.coversSince(unseen)).toBe(false)
  expect(recent.coversSince(recent.mark)).toBe(true)
})

test('revised bars, and bars queued during the revision, are forgotten; later bars are kept', () => {
  const recent = remembering(1, 2, 3, 4, 5)
  const mark = recent.mark
  recent.revised(timeOf(3))
  expect(recent.covers(timeOf(2))).toBe(false)
  expect(recent.covers(timeOf(3))).toBe(true)
  expect(minutesAfter(recent, 3)).toEqual([4, 5])
  expect(recent.coversSince(mark)).toBe(true)
  recent.revised(timeOf(7))
  recent.add(minuteBar(7))
  expect(recent.coversSince(mark)).toBe(false)
  expect(recent.covers(timeOf(6))).toBe(false)
  recent.add(minuteBar(8))
  expect(minutesAfter(recent, 7)).toEqual([8])
})

test('after any sequence of bars and losses it has every bar that it covers', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 80 }), fc.nat(80), (lost, asked) => {
      const recent = new RecentBars()
      const all = lost.map((isLost, minute) => {
        if (isLost) recent.restart()
        else recent.add(minuteBar(minute))
        return minute
      })
      if (recent.covers(timeOf(asked)))
        expect(minutesAfter(recent, asked)).toEqual(all.filter((minute) => minute > asked))
    }),
  )
})

test('after lost revisions it covers the time from the newest bar on', () => {
  const recent = remembering(1, 2, 3)
  recent.revisionsLost()
  expect(recent.covers(timeOf(2))).toBe(false)
  recent.add(minuteBar(4))
  new RecentBars().revisionsLost()
  expect(recent.covers(timeOf(3))).toBe(true)
  expect(minutesAfter(recent, 1)).toEqual([4])
})
