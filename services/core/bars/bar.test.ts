import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unsortedBars } from '../../../test/support/samples/arbitrary-bars.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { barAt, barCount, barsOf, columns, countUntil, pickBars, sliceBars, timeAt, toList } from './bar.ts'

test('columns return the bars they were made of, whole and in slices', () => {
  fc.assert(
    fc.property(unsortedBars(), fc.nat(30), fc.nat(30), (list, start, end) => {
      const bars = barsOf(list)
      expect(barCount(bars)).toBe(list.length)
      expect(toList(bars)).toEqual(list)
      expect(toList(sliceBars(bars, start, end))).toEqual(start < end ? list.slice(start, end) : [])
      list.forEach((bar, i) => {
        expect(barAt(bars, i)).toEqual(bar)
        expect(timeAt(bars, i)).toBe(bar.time)
      })
    }),
  )
})

test('a slice is a view and copies nothing', () => {
  const bars = barsOf([])
  for (const column of columns) expect(sliceBars(bars, 0, 0)[column].buffer).toBe(bars[column].buffer)
})

test('picked bars are a copy, by indexes in their order or by a rule on the index', () => {
  fc.assert(
    fc.property(unsortedBars(), fc.array(fc.nat(30)), (list, wanted) => {
      const bars = barsOf(list)
      const indexes = wanted.filter((i) => i < list.length)
      expect(toList(pickBars(bars, Uint32Array.from(indexes)))).toEqual(indexes.map((i) => list[i]))
      const byRule = pickBars(bars, (i) => i % 2 === 0)
      expect(toList(byRule)).toEqual(list.filter((_, i) => i % 2 === 0))
      expect(byRule.time.buffer).not.toBe(bars.time.buffer)
    }),
  )
})

test('the count of bars until a time includes a bar that opens at it, from any start', () => {
  const times = [60, 120, 300]
  const bars = barsOf(
    times.map((time) => ({ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 })),
  )
  for (const moment of [0, 59, 60, 61, 120, 299, 300, 1_000]) {
    const count = times.filter((time) => time <= moment).length
    expect(countUntil(bars, moment)).toBe(count)
    for (let start = 0; start <= count; start++) expect(countUntil(bars, moment, start)).toBe(count)
  }
})
