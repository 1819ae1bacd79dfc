import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unsortedBars } from '../../test/support/arbitrary-bars.ts'
import { barAt, barCount, barsOf, columns, sliceBars, timeAt, toList } from './bar.ts'

test('bars come back from their columns, whole and in slices', () => {
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

test('a slice is a view: nothing is copied', () => {
  const bars = barsOf([])
  for (const column of columns) expect(sliceBars(bars, 0, 0)[column].buffer).toBe(bars[column].buffer)
})
