import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Bars, barCount, barsOf, toList } from '../../../core/bars/bar.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { LineBars } from './read-lines.ts'
import { sortLines } from './sort-lines.ts'

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

async function sort(lines: readonly Line[], sizes: { piece: number; runBars: number; blockBars: number }) {
  let duplicates = 0
  const pieces: Bars[] = []
  const count = (more: number): void => void (duplicates += more)
  for await (const piece of sortLines(piecesOf(lines, sizes.piece), count, sizes)) pieces.push(piece)
  return { bars: pieces.flatMap(toList), duplicates, pieces }
}

const line = fc.record({ minute: fc.integer({ min: 0, max: 60 }), price: fc.integer({ min: 1, max: 9 }) })

describe('lines in any order', () => {
  test('are yielded ascending, of duplicates the last, with any size of memory', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 80 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 90 }),
        fc.integer({ min: 1, max: 7 }),
        async (lines, piece, runBars, blockBars) => {
          const last = new Map(lines.map(({ minute, price }, i) => [minute * 60, { price, line: i + 2 }]))
          const expected = [...last].sort(([a], [b]) => a - b)
          const { bars, duplicates } = await sort(lines, { piece, runBars, blockBars })
          expect(bars.map(({ time, close, revision }) => [time, { price: close, line: revision }])).toEqual(
            expected,
          )
          expect(duplicates).toBe(lines.length - last.size)
        },
      ),
    ))

  test('are yielded in pieces of bounded size when they were sorted on the disk', async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => ({ minute: 1_000 - i, price: i + 1 }))
    const { bars, pieces } = await sort(lines, { piece: 64, runBars: 100, blockBars: 16 })
    expect(bars).toHaveLength(1_000)
    expect(Math.max(...pieces.map(barCount))).toBe(16)
  })
})
