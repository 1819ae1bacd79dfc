import fc from 'fast-check'
import { expect, test } from 'vitest'
import { barCount, barsOf, type RevisedBar, toList } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import { fieldsPerRow, packRows, unpackRows } from './packed-rows.ts'

const feed = feedKey('BROKERA', 'ZERO')
const seriesAt = (i: number): Series => ({ feed, symbol: compoundKey(feed, `SYM${i}`), resolution: '1' })

const anyPrice = fc.double({ noNaN: true })
const anyBar: fc.Arbitrary<RevisedBar> = fc.record({
  time: fc.maxSafeInteger().map(feedSeconds),
  open: anyPrice,
  high: anyPrice,
  low: anyPrice,
  close: anyPrice,
  volume: anyPrice,
  revision: fc.maxSafeInteger(),
})

test('unpacking returns packed rows unchanged, in order and under their series; all pieces but the last are full', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyBar, { maxLength: 12 }), { maxLength: 5 }),
      fc.integer({ min: 1, max: 7 }),
      (lists, rowsMax) => {
        const pieces = packRows(
          lists.map((list, i) => ({ series: seriesAt(i), bars: barsOf(list) })),
          rowsMax,
        )
        const total = lists.flat().length
        expect(pieces.map(({ count }) => count)).toEqual(
          Array.from({ length: Math.ceil(total / rowsMax) }, (_, i) =>
            Math.min(rowsMax, total - i * rowsMax),
          ),
        )
        for (const { fields, count, parts } of pieces) {
          expect(fields).toHaveLength(count * fieldsPerRow)
          expect(parts.reduce((sum, part) => sum + part.count, 0)).toBe(count)
        }
        const names = pieces.flatMap(({ parts }) =>
          parts.flatMap((part) => Array<string>(part.count).fill(part.series.symbol)),
        )
        expect(names).toEqual(lists.flatMap((list, i) => list.map(() => seriesAt(i).symbol)))
        const all = unpackRows(
          pieces.map(({ fields }) => fields),
          false,
        )
        expect(toList(all)).toEqual(lists.flat())
        const backwards = unpackRows(
          pieces.map(({ fields }) => fields),
          true,
        )
        expect(toList(backwards)).toEqual(lists.flat().reverse())
      },
    ),
  )
})

test('each piece and each column of an answer has a separate buffer, so that both can be transferred', () => {
  const bars = barsOf(
    [1, 2, 3].map((time) => ({ time: feedSeconds(time), open: 1, high: 1, low: 1, close: 1, volume: 1 })),
  )
  const pieces = packRows([{ series: seriesAt(0), bars }], 2)
  const columns = Object.values(
    unpackRows(
      pieces.map(({ fields }) => fields),
      false,
    ),
  ) as Float64Array[]
  const buffers = [...pieces.map(({ fields }) => fields), ...columns].map(({ buffer }) => buffer)
  expect(new Set(buffers).size).toBe(pieces.length + columns.length)
  for (const [i, { fields, count }] of pieces.entries())
    expect(fields.buffer.byteLength, `piece ${i}`).toBe(count * 56)
  expect(barCount(bars)).toBe(3)
})
