import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { storedResolutions } from '../feeds/resolution.ts'
import { barsOf } from './bar.ts'
import { countWithinPartitions, partitionEnd, partitionsOf } from './partitions.ts'

const at = (...times: number[]) =>
  barsOf(times.map((time) => ({ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 })))
const seconds = (date: string): number => Date.parse(`${date}Z`) / 1_000
const week = 7 * 86_400

test.each([
  ['1', '1970-01-01T00:00', '1970-01-05T00:00'],
  ['1', '2026-11-22T23:59', '2026-11-23T00:00'],
  ['1', '2026-11-23T00:00', '2026-11-30T00:00'],
  ['5', '2026-12-31T23:55', '2027-01-01T00:00'],
  ['15', '2024-02-01T00:00', '2024-03-01T00:00'],
  ['60', '2026-11-23T00:00', '2027-01-01T00:00'],
  ['1M', '1970-01-01T00:00', '1971-01-01T00:00'],
] as const)('a bar of resolution %s at %s is in the partition that ends at %s', (resolution, time, end) => {
  expect(partitionEnd(seconds(time), resolution)).toBe(seconds(end))
})

test('series of one resolution share partitions, those of others do not', () => {
  const bars = at(0, week, 2 * week)
  expect(partitionsOf([{ resolution: '1', bars }]).size).toBe(3)
  expect(
    partitionsOf([
      { resolution: '1', bars },
      { resolution: '1', bars: at(week) },
      { resolution: '1D', bars },
      { resolution: '1W', bars },
    ]).size,
  ).toBe(5)
})

test('the bars that fit into a number of partitions are as many as possible', () => {
  const times = fc.uniqueArray(fc.integer({ min: 0, max: 200 * week }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(
      fc.constantFrom(...storedResolutions),
      times,
      fc.integer({ min: 1, max: 9 }),
      (resolution, list, max) => {
        const bars = at(...list.toSorted((a, b) => a - b))
        const count = countWithinPartitions(bars, resolution, 0, max)
        const touched = (n: number): number =>
          partitionsOf([{ resolution, bars: at(...[...bars.time].slice(0, n)) }]).size
        expect(touched(count)).toBeLessThanOrEqual(max)
        if (count < list.length) expect(touched(count + 1)).toBe(max + 1)
      },
    ),
  )
})
