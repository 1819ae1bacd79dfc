import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { storedResolutions } from '../feeds/resolution.ts'
import { gridSeconds } from './bar-rules.ts'
import { joinSpans, withTouching } from './coverage.ts'
import { onGrid, type Span, windowFromMin } from './window.ts'

const span = (from: number, to: number): Span => ({ from: feedSeconds(from), to: feedSeconds(to) })
const anyResolution = fc.constantFrom(...storedResolutions)
const anySpan = fc
  .tuple(fc.integer({ min: 1, max: 9_000_000_000 }), fc.integer({ min: 1, max: 20_000 }))
  .map(([from, length]) => span(from, from + length))

test('a window on the grid has the same times at which a bar may open, and ends at such times', () => {
  fc.assert(
    fc.property(anyResolution, anySpan, (resolution, given) => {
      const grid = gridSeconds(resolution)
      const rounded = onGrid(resolution, given)
      const opens = ({ from, to }: Span): number[] => {
        const first = Math.ceil(from / grid) * grid
        return Array.from({ length: Math.max(0, Math.ceil((to - first) / grid)) }, (_, i) => first + i * grid)
      }
      expect(opens(rounded)).toEqual(opens(given))
      const first = given.from === windowFromMin ? windowFromMin : 0
      expect([rounded.from % grid, rounded.to % grid]).toEqual([first, 0])
      expect(onGrid(resolution, rounded)).toEqual(rounded)
    }),
  )
})

test('windows that leave out less than one bar join on the grid, and windows with a bar between them do not', () => {
  fc.assert(
    fc.property(anyResolution, fc.nat(100_000), fc.nat(), (resolution, bars, left) => {
      const grid = gridSeconds(resolution)
      const end = bars * grid
      const cut = onGrid(resolution, span(end - 2 * grid, end - (left % grid)))
      expect(joinSpans([cut, onGrid(resolution, span(end, end + grid))])).toEqual([
        span(end - 2 * grid, end + grid),
      ])
      expect(joinSpans([cut, onGrid(resolution, span(end + 1, end + 2 * grid))])).toHaveLength(2)
    }),
  )
})

const pointMax = 40
const points = (spans: readonly Span[]): number[] =>
  Array.from({ length: pointMax + 1 }, (_, at) => at).filter((at) =>
    spans.some(({ from, to }) => from <= at && at < to),
  )
const anyPoints = fc.tuple(fc.nat(pointMax), fc.nat(pointMax)).map(([from, to]) => span(from, to))

test('a window that grows by the feed-wide windows that it touches claims nothing that they do not claim since then', () => {
  fc.assert(
    fc.property(
      anyPoints.filter(({ from, to }) => from < to),
      fc.array(anyPoints, { maxLength: 6 }),
      fc.option(fc.nat(pointMax), { nil: undefined }),
      (own, spans, since) => {
        const feedWide = joinSpans(spans)
        const counted = feedWide.flatMap(({ from, to }) =>
          since === undefined ? [] : [span(Math.max(from, since), to)],
        )
        const grown = withTouching(own, feedWide, since === undefined ? undefined : feedSeconds(since))
        const whole = joinSpans([own, ...counted]).find(({ from, to }) => from <= own.from && own.to <= to)
        expect(grown).toEqual(whole)
        expect(points([grown]).every((at) => points([own, ...counted]).includes(at))).toBe(true)
      },
    ),
  )
})
