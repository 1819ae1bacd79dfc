import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Span } from '../../../core/bars/window.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { closeSpans } from './span-bounds.ts'

const span = (from: number, to: number): Span => ({ from: feedSeconds(from), to: feedSeconds(to) })

test('only short spans that follow each other closely are read together', () => {
  const spans = [span(0, 10), span(20, 30), span(100, 110), span(110, 300), span(300, 310), span(5, 9)]
  expect(closeSpans(spans, 100)).toEqual([
    [span(0, 10), span(20, 30), span(100, 110)],
    [span(110, 300)],
    [span(300, 310)],
    [span(5, 9)],
  ])
})

test('every span is in one group, in order, and a group has few seconds for each of its spans', () => {
  const anySpan = fc
    .tuple(fc.nat(5_000), fc.integer({ min: -50, max: 400 }))
    .map(([from, length]) => span(from, from + length))
  fc.assert(
    fc.property(fc.array(anySpan, { maxLength: 30 }), fc.boolean(), (spans, isSorted) => {
      const given = isSorted ? spans.toSorted((a, b) => a.from - b.from) : spans
      const groups = closeSpans(given, 200)
      expect(groups.flat()).toEqual(given)
      for (const group of groups.filter(({ length }) => length > 1)) {
        expect(group.every(({ from, to }) => from <= to)).toBe(true)
        const [first, last] = [group[0] as Span, group.at(-1) as Span]
        expect(last.to - first.from).toBeLessThanOrEqual(200 * group.length)
      }
    }),
  )
})
