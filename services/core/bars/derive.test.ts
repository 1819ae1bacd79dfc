import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ascendingBars } from '../../../test/support/samples/arbitrary-bars.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, type Resolution, resolutions } from '../feeds/resolution.ts'
import { type Bars, barCount, barsOf, type RevisedBar, sliceBars, toList } from './bar.ts'
import { bucketOpen, createFold, foldBars } from './derive.ts'
import { mergeBars } from './revision.ts'

const at = (iso: string) => feedSeconds(Date.parse(`${iso}Z`) / 1_000)
const all = { isClosed: () => true, firstStored: undefined }
const resolution = fc.constantFrom(...resolutions)
/** Sparse minutes over three days: illiquid minutes, empty buckets, gaps. */
const minutes = ascendingBars({ steps: 3 * 1_440, lengthMax: 60 })

/** The expected result: each bucket from the bars inside it. */
function foldedByHand(m1: Bars, r: Resolution): RevisedBar[] {
  const buckets = Map.groupBy(toList(m1), (bar) => bucketOpen(bar.time, r))
  return [...buckets].map(([time, parts]) => ({
    time,
    open: parts[0]!.open,
    high: Math.max(...parts.map((bar) => bar.high)),
    low: Math.min(...parts.map((bar) => bar.low)),
    close: parts.at(-1)!.close,
    volume: parts.reduce((sum, bar) => sum + bar.volume, 0),
    revision: Math.max(...parts.map((bar) => bar.revision)),
  }))
}

test.each<[Resolution, string, string]>([
  ['5', '2024-01-05T10:04:00', '2024-01-05T10:00:00'],
  ['30', '2024-01-05T10:59:00', '2024-01-05T10:30:00'],
  ['240', '2024-01-05T23:59:00', '2024-01-05T20:00:00'],
  ['1D', '2024-01-05T23:59:00', '2024-01-05T00:00:00'],
  ['1W', '2024-01-06T23:59:00', '2023-12-31T00:00:00'],
  ['1W', '2024-01-07T00:00:00', '2024-01-07T00:00:00'],
  ['1M', '2024-02-29T23:59:00', '2024-02-01T00:00:00'],
])('a minute belongs to the same %s bucket as in MetaTrader: %s to %s', (r, time, open) => {
  expect(bucketOpen(at(time), r)).toBe(at(open))
})

test('every minute is inside its bucket, and buckets have no gaps between them', () => {
  const time = fc.integer({ min: 0, max: 80_000_000 }).map((minute) => feedSeconds(minute * 60))
  fc.assert(
    fc.property(time, resolution, (minute, r) => {
      const open = bucketOpen(minute, r)
      expect(open).toBeLessThanOrEqual(minute)
      expect(minute).toBeLessThan(barEnd(open, r))
      expect(bucketOpen(open, r)).toBe(open)
      expect(bucketOpen(barEnd(open, r), r)).toBe(barEnd(open, r))
    }),
  )
})

test('a folded bar has the open of its first minute, the close of its last, and the range of all', () => {
  const bar = (time: string, [open, high, low, close]: [number, number, number, number], volume: number) => ({
    time: at(time),
    open,
    high,
    low,
    close,
    volume,
    revision: volume,
  })
  const m1 = barsOf([
    bar('2024-01-05T10:03:00', [5, 8, 4, 6], 2),
    bar('2024-01-05T10:17:00', [6, 7, 2, 3], 9),
    bar('2024-01-05T10:29:00', [3, 4, 3, 4], 1),
    bar('2024-01-05T11:00:00', [4, 4, 4, 4], 1),
  ])
  expect(toList(foldBars(m1, '30', all))).toEqual([
    { ...bar('2024-01-05T10:00:00', [5, 8, 2, 4], 12), revision: 9 },
    bar('2024-01-05T11:00:00', [4, 4, 4, 4], 1),
  ])
})

test('every resolution is folded from the minutes of each bucket, over gaps and empty buckets', () => {
  fc.assert(
    fc.property(minutes, resolution, (m1, r) => {
      expect(toList(foldBars(m1, r, all))).toEqual(foldedByHand(m1, r))
    }),
  )
})

test('a fold does not depend on the order in which bars and revisions arrived', () => {
  fc.assert(
    fc.property(minutes, minutes, resolution, (first, second, r) => {
      const later = { ...second, revision: second.revision.map((revision) => revision + 10) }
      const arrived = [mergeBars(first, later), mergeBars(later, first)].map((m1) =>
        toList(foldBars(m1, r, all)),
      )
      expect(arrived[0]).toEqual(arrived[1])
    }),
  )
})

test('a fold in pieces gives the same bars as a fold of the whole', () => {
  fc.assert(
    fc.property(minutes, resolution, fc.array(fc.nat(60)), (m1, r, cuts) => {
      const fold = createFold(r)
      const given: RevisedBar[] = []
      const bounds = [
        0,
        ...cuts.map((cut) => Math.min(cut, barCount(m1))).sort((a, b) => a - b),
        barCount(m1),
      ]
      bounds.slice(1).forEach((end, i) => {
        given.push(...toList(fold.push(sliceBars(m1, bounds[i]!, end))))
      })
      given.push(...toList(fold.end()))
      expect(given).toEqual(foldedByHand(m1, r))
      expect(barCount(fold.end())).toBe(0)
    }),
  )
})

test('a bucket that is still forming is left out', () => {
  const m1 = barsOf([60, 1_800, 1_860, 3_600].map((time) => ({ ...flat, time: feedSeconds(time) })))
  const closedBefore = (now: number) => (open: FeedSeconds) => open + 1_800 <= now
  const opens = (now: number) => [
    ...foldBars(m1, '30', { isClosed: closedBefore(now), firstStored: undefined }).time,
  ]
  expect(opens(3_599)).toEqual([0])
  expect(opens(3_600)).toEqual([0, 1_800])
  expect(opens(5_400)).toEqual([0, 1_800, 3_600])
  expect(opens(0)).toEqual([])
})

test('the oldest bucket is left out unless the first stored minute is its first', () => {
  const m1 = barsOf([1_860, 3_600].map((time) => ({ ...flat, time: feedSeconds(time) })))
  const opens = (firstStored: number) => [
    ...foldBars(m1, '30', { isClosed: () => true, firstStored: feedSeconds(firstStored) }).time,
  ]
  expect(opens(1_860)).toEqual([3_600])
  expect(opens(1_800)).toEqual([1_800, 3_600])
  expect(opens(60)).toEqual([1_800, 3_600])
})

const flat = { open: 1, high: 1, low: 1, close: 1, volume: 1, revision: 1 }
