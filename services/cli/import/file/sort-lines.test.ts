import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bars, barCount, barsOf, toList } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { batchBarsMax } from '../../../wire/limits.ts'
import type { LineBars } from './read-lines.ts'
import { checkSortable, sortLines } from './sort-lines.ts'

interface Line {
  readonly minute: number
  readonly price: number
}

/** Lines in the form of the reader: in the file's order, numbered from 2, in pieces. */
async function* piecesOf(lines: readonly Line[], size: number): AsyncGenerator<LineBars> {
  for (let at = 0; at < lines.length; at += size) {
    yield barsOf(
      lines.slice(at, at + size).map(({ minute, price }, i) => ({
        time: feedSeconds(minute * 60),
        open: price,
        high: price,
        low: price,
        close: price,
        volume: price,
        revision: at + i + 2,
      })),
    )
  }
}

/** `scanned`: lines that the scan of the file found; more than good ones, because some are bad. */
async function sort(lines: readonly Line[], piece: number, scanned = lines.length + 3) {
  let duplicates = 0
  const pieces: Bars[] = []
  const count = (more: number): void => void (duplicates += more)
  const file = { name: 'some.csv', lines: scanned }
  for await (const each of sortLines(piecesOf(lines, piece), file, count)) pieces.push(each)
  return { bars: pieces.flatMap(toList), duplicates, pieces }
}

const line = fc.record({ minute: fc.integer({ min: 0, max: 60 }), price: fc.integer({ min: 1, max: 9 }) })

describe('lines in any order', () => {
  test('are yielded ascending, of duplicates the last', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 80 }),
        fc.integer({ min: 1, max: 30 }),
        async (lines, size) => {
          const last = new Map(lines.map(({ minute, price }, i) => [minute * 60, { price, line: i + 2 }]))
          const expected = [...last].sort(([a], [b]) => a - b)
          const { bars, duplicates } = await sort(lines, size)
          expect(bars.map(({ time, close, revision }) => [time, { price: close, line: revision }])).toEqual(
            expected,
          )
          expect(duplicates).toBe(lines.length - last.size)
        },
      ),
    ))

  const backwards = Array.from({ length: 12_000 }, (_, i) => ({ minute: 12_000 - i, price: i + 1 }))

  test('are yielded in pieces of at most one batch', async () => {
    const { bars, pieces } = await sort(backwards, 700)
    expect(bars).toHaveLength(12_000)
    expect(Math.max(...pieces.map(barCount))).toBe(batchBarsMax)
  })

  test('end the import with exit code 66 when there are more than the scan of the file found', async () => {
    await expect(sort(backwards, 700, 11_999)).rejects.toMatchObject({
      exit: 'noInput',
      message: 'some.csv changed while it was read; import it again.',
    })
  })
})

test('more than 5,000,000 lines are refused only where they do not ascend', () => {
  const check = (lines: number, unsortedLine?: number) => () =>
    checkSortable('some.csv', { lines, unsortedLine })
  expect(check(5_000_001)).not.toThrow()
  expect(check(5_000_000, 4_711)).not.toThrow()
  expect(check(5_000_001, 4_711)).toThrow(
    'some.csv has 5,000,001 lines, and line 4,711 is not later than the one before it. ' +
      'At most 5,000,000 lines are sorted: sort the file by time, or split it.',
  )
})
