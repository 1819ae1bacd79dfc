import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ascendingBars, unsortedBars } from '../../../test/support/samples/arbitrary-bars.ts'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { type Bars, barCount, barsOf, noBars, type RevisedBar, toList } from './bar.ts'
import { compareWithStored, mergeBars, nextRevision, sortBars } from './revision.ts'

const bar = (minute: number, close: number, revision: number): RevisedBar => ({
  time: feedSeconds(minute * 60),
  open: 1,
  high: 9,
  low: 1,
  close,
  volume: 1,
  revision,
})
const valuesOf = ({ revision: _, ...values }: RevisedBar) => values

/** The expected result: of two bars with one time the greater revision, of equal ones the first. */
function mergedByMap(...readings: Bars[]): RevisedBar[] {
  const byTime = new Map<number, RevisedBar>()
  for (const each of readings.flatMap(toList)) {
    const held = byTime.get(each.time)
    if (held === undefined || each.revision > held.revision) byTime.set(each.time, each)
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

test('merging two readings gives one ascending series with the greatest revision of each time', () => {
  const a = barsOf([bar(1, 2, 10), bar(2, 2, 10), bar(4, 2, 10)])
  const b = barsOf([bar(0, 3, 5), bar(1, 3, 11), bar(2, 3, 9), bar(4, 3, 10)])
  expect(toList(mergeBars(a, b))).toEqual([bar(0, 3, 5), bar(1, 3, 11), bar(2, 2, 10), bar(4, 2, 10)])
  fc.assert(
    fc.property(ascendingBars(), ascendingBars(), (x, y) => {
      expect(toList(mergeBars(x, y))).toEqual(mergedByMap(x, y))
    }),
  )
})

test('the order in which readings arrive does not matter when their revisions differ', () => {
  const withRevision = (bars: Bars, revision: number): Bars => ({
    ...bars,
    revision: bars.revision.map(() => revision),
  })
  fc.assert(
    fc.property(fc.tuple(ascendingBars(), ascendingBars(), ascendingBars()), ([x, y, z]) => {
      const [a, b, c] = [withRevision(x, 1), withRevision(y, 2), withRevision(z, 3)]
      const expected = toList(mergeBars(mergeBars(a, b), c))
      expect(toList(mergeBars(c, mergeBars(b, a)))).toEqual(expected)
      expect(toList(mergeBars(mergeBars(a, c), b))).toEqual(expected)
    }),
  )
})

test('a reading merged again changes nothing, and no input is changed', () => {
  fc.assert(
    fc.property(ascendingBars(), ascendingBars(), (a, b) => {
      const before = [toList(a), toList(b)]
      const merged = toList(mergeBars(a, b))
      expect(toList(mergeBars(mergeBars(a, b), b))).toEqual(merged)
      expect(toList(mergeBars(a, a))).toEqual(before[0])
      expect([toList(a), toList(b)]).toEqual(before)
    }),
  )
})

test('unsorted bars become ascending; of bars with one time the last is kept and the others are counted', () => {
  const { bars, duplicates } = sortBars(
    barsOf([bar(3, 3, 1), bar(1, 4, 1), bar(3, 5, 1), bar(1, 6, 1), bar(2, 7, 1)]),
  )
  expect(toList(bars)).toEqual([bar(1, 6, 1), bar(2, 7, 1), bar(3, 5, 1)])
  expect(duplicates).toBe(2)
  fc.assert(
    fc.property(unsortedBars(), (list) => {
      const last = new Map(list.map((each) => [each.time, each]))
      const sorted = sortBars(barsOf(list))
      expect(toList(sorted.bars)).toEqual([...last.values()].sort((a, b) => a.time - b.time))
      expect(sorted.duplicates).toBe(list.length - last.size)
    }),
  )
})

test('bars that ascend already are returned without a copy', () => {
  const bars = barsOf([bar(1, 2, 1), bar(2, 2, 1)])
  expect(sortBars(bars)).toEqual({ bars, duplicates: 0 })
  expect(sortBars(bars).bars).toBe(bars)
})

test('the same file read again changes nothing', () => {
  fc.assert(
    fc.property(ascendingBars(), (stored) => {
      const again = { ...stored, revision: stored.revision.map((revision) => revision + 100) }
      const compared = compareWithStored(stored, again)
      expect({ ...compared, keep: barCount(compared.keep) }).toEqual({
        keep: 0,
        accepted: 0,
        revised: 0,
        unchanged: barCount(stored),
      })
    }),
  )
})

test('new times count as accepted, changed values with a greater revision as revised, all others as unchanged', () => {
  const stored = barsOf([bar(1, 2, 10), bar(2, 2, 10), bar(3, 2, 10), bar(5, 2, 10)])
  const incoming = barsOf([bar(1, 3, 11), bar(2, 2, 11), bar(3, 3, 10), bar(4, 3, 1), bar(5, 3, 9)])
  const { keep, ...counts } = compareWithStored(stored, incoming)
  expect(toList(keep)).toEqual([bar(1, 3, 11), bar(4, 3, 1)])
  expect(counts).toEqual({ accepted: 1, revised: 1, unchanged: 3 })
})

test.each(['open', 'high', 'low', 'close', 'volume'] as const)(
  'a bar that differs only in %s counts as revised',
  (column) => {
    const stored = barsOf([bar(1, 2, 10)])
    const incoming = barsOf([{ ...bar(1, 2, 11), [column]: 5 }])
    expect(compareWithStored(stored, incoming)).toMatchObject({ revised: 1, unchanged: 0 })
  },
)

test('writing only the kept bars gives the same stored values as writing the whole reading', () => {
  fc.assert(
    fc.property(ascendingBars(), ascendingBars(), (stored, incoming) => {
      const { keep, accepted, revised, unchanged } = compareWithStored(stored, incoming)
      expect(toList(mergeBars(stored, keep)).map(valuesOf)).toEqual(
        toList(mergeBars(stored, incoming)).map(valuesOf),
      )
      expect(accepted + revised).toBe(barCount(keep))
      expect(accepted + revised + unchanged).toBe(barCount(incoming))
      expect(accepted).toBe(barCount(mergeBars(stored, incoming)) - barCount(stored))
    }),
  )
})

test('all bars are accepted for an empty series', () => {
  const incoming = barsOf([bar(1, 2, 1), bar(2, 2, 1)])
  expect(compareWithStored(noBars, incoming)).toMatchObject({ accepted: 2, revised: 0, unchanged: 0 })
})

test('a revision always increases, even when the clock stops or is set back', () => {
  expect(nextRevision(5_000, undefined)).toBe(5_000)
  expect(nextRevision(5_000, 4_000)).toBe(5_000)
  expect(nextRevision(5_000, 5_000)).toBe(5_001)
  expect(nextRevision(5_000, 9_000)).toBe(9_001)
})
