import { expect, test } from 'vitest'
import { barsOf, toList } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { Owners } from './owners.ts'

const barsAt = (...times: number[]) =>
  barsOf(times.map((time) => ({ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 })))

test('the last of two files that contain a time owns it, up to the latest time', () => {
  const owners = new Owners(feedSeconds(120_000))
  const both = barsAt(0, 60, 120_000, 120_060)
  owners.claim(both, 0)
  owners.claim(both, 1)
  expect(toList(owners.of(both, 0)).map(({ time }) => time)).toEqual([120_060])
  expect(owners.of(both, 1)).toBe(both)
})

test('times after the latest take no memory', () => {
  const owners = new Owners(feedSeconds(0))
  const future = barsAt(...Array.from({ length: 50_000 }, (_, i) => (i + 1) * 65 * 60))
  const before = process.memoryUsage().arrayBuffers
  owners.claim(future, 0)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
})
