import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { SpanSlots } from './span-slots.ts'

const span = (from: number, to: number): Span => ({ from: feedSeconds(from), to: feedSeconds(to) })

test('a span that grows at either end stays in its slot', () => {
  const slots = new SpanSlots()
  expect(slots.add(span(100, 200))).toEqual({ slot: 0, span: span(100, 200) })
  expect(slots.add(span(200, 300))).toEqual({ slot: 0, span: span(100, 300) })
  expect(slots.add(span(50, 100))).toEqual({ slot: 0, span: span(50, 300) })
  expect(slots.add(span(400, 500))).toEqual({ slot: 1, span: span(400, 500) })
  expect(slots.add(span(300, 400))).toEqual({ slot: 0, span: span(50, 500) })
  expect(slots.add(span(600, 700))).toEqual({ slot: 1, span: span(600, 700) })
})

test('the slots contain the union of the added spans, and there are never more slots than the union had pieces', () => {
  const anySpan = fc
    .record({ from: fc.nat(60), length: fc.integer({ min: 1, max: 12 }) })
    .map(({ from, length }) => span(from, from + length))
  fc.assert(
    fc.property(fc.array(anySpan, { maxLength: 30 }), (added) => {
      const slots = new SpanSlots()
      const rows = new Map<number, Span>()
      let piecesMax = 0
      added.forEach((each, i) => {
        const { slot, span: held } = slots.add(each)
        rows.set(slot, held)
        const union = joinSpans(added.slice(0, i + 1))
        piecesMax = Math.max(piecesMax, union.length)
        expect(joinSpans([...rows.values()])).toEqual(union)
      })
      expect(rows.size).toBeLessThanOrEqual(piecesMax)
    }),
  )
})
