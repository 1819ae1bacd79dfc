import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minuteBar, timeOf } from '../../../test/support/fixtures/stream-fixture.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import { RecentBars } from './recent-bars.ts'

const id = 7 as SymbolId
const otherId = 8 as SymbolId
const minutesAfter = (recent: RecentBars, minute: number) =>
  recent.after(id, timeOf(minute)).map(({ volume }) => volume)

function remembering(...minutes: number[]): RecentBars {
  const recent = new RecentBars()
  for (const minute of minutes) recent.add(id, minuteBar(minute))
  return recent
}

test('after a loss, bars before the next one are not covered', () => {
  const recent = remembering(1, 2, 3, 4, 5)
  recent.broken(id)
  expect(recent.covers(id, timeOf(5))).toBe(false)
  recent.add(id, minuteBar(8))
  expect(recent.covers(id, timeOf(5))).toBe(false)
  expect(recent.covers(id, timeOf(7))).toBe(false)
  expect(recent.covers(id, timeOf(8))).toBe(true)
  recent.add(id, minuteBar(9))
  expect(minutesAfter(recent, 8)).toEqual([9])
})

test('a read of the store before a loss must be repeated, also for a symbol without bars', () => {
  const recent = remembering(1, 2)
  const [mark, unseen] = [recent.mark(id), recent.mark(otherId)]
  expect(recent.coversSince(id, mark)).toBe(true)
  recent.broken(id)
  recent.broken(otherId)
  expect(recent.coversSince(id, mark)).toBe(false)
  expect(recent.coversSince(otherId, unseen)).toBe(false)
  expect(recent.coversSince(id, recent.mark(id))).toBe(true)
})

test('revised bars, and bars queued during the revision, are forgotten; later bars are kept', () => {
  const recent = remembering(1, 2, 3, 4, 5)
  const mark = recent.mark(id)
  recent.revised(id, timeOf(3))
  expect(recent.covers(id, timeOf(2))).toBe(false)
  expect(recent.covers(id, timeOf(3))).toBe(true)
  expect(minutesAfter(recent, 3)).toEqual([4, 5])
  expect(recent.coversSince(id, mark)).toBe(true)
  recent.revised(id, timeOf(7))
  recent.add(id, minuteBar(7))
  expect(recent.coversSince(id, mark)).toBe(false)
  expect(recent.covers(id, timeOf(6))).toBe(false)
  recent.add(id, minuteBar(8))
  expect(minutesAfter(recent, 7)).toEqual([8])
})

test('after any sequence of bars and losses it has every bar that it covers', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 80 }), fc.nat(80), (lost, asked) => {
      const recent = new RecentBars()
      const all = lost.map((isLost, minute) => {
        if (isLost) recent.broken(id)
        else recent.add(id, minuteBar(minute))
        return minute
      })
      if (recent.covers(id, timeOf(asked)))
        expect(minutesAfter(recent, asked)).toEqual(all.filter((minute) => minute > asked))
    }),
  )
})

test('after lost revisions it covers the time from the newest bar on', () => {
  const recent = remembering(1, 2, 3)
  recent.revisionsLost(id)
  expect(recent.covers(id, timeOf(2))).toBe(false)
  recent.add(id, minuteBar(4))
  recent.revisionsLost(otherId)
  expect(recent.covers(id, timeOf(3))).toBe(true)
  expect(minutesAfter(recent, 1)).toEqual([4])
})
