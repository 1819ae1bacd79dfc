import fc from 'fast-check'
import { expect, test } from 'vitest'
import { feedSeconds } from '../clocks/feed-clock.ts'
import { type Resolution, resolutions } from '../feeds/resolution.ts'
import { coverage, joinSpans, subtractSpans } from './coverage.ts'
import type { BarBounds, Span } from './window.ts'

const span = (from: number, to: number): Span => ({ from: feedSeconds(from), to: feedSeconds(to) })
const pointMax = 30
const anySpans = fc.array(
  fc.tuple(fc.nat(pointMax), fc.nat(pointMax)).map(([from, to]) => span(from, to)),
  { maxLength: 8 },
)
const points = (spans: readonly Span[]): number[] =>
  Array.from({ length: pointMax + 1 }, (_, at) => at).filter((at) =>
    spans.some((s) => s.from <= at && at < s.to),
  )

const isNormal = (spans: readonly Span[]): boolean =>
  spans.every((each, i) => each.from < each.to && (i === 0 || spans[i - 1]!.to < each.from))

test('a union of windows does not depend on their order, and touching ones are joined', () => {
  expect(joinSpans([span(5, 8), span(0, 2), span(2, 4), span(7, 9), span(3, 3)])).toEqual([
    span(0, 4),
    span(5, 9),
  ])
  fc.assert(
    fc.property(anySpans, anySpans, (a, b) => {
      const joined = joinSpans([...a, ...b])
      expect(points(joined)).toEqual(points([...a, ...b]))
      expect(isNormal(joined)).toBe(true)
      expect(joinSpans([...b, ...a])).toEqual(joined)
      expect(joinSpans([...joined, ...a])).toEqual(joined)
    }),
  )
})

test('missing spans are the wanted ones without the covered ones', () => {
  expect(subtractSpans([span(0, 10)], [span(2, 4), span(6, 7)])).toEqual([
    span(0, 2),
    span(4, 6),
    span(7, 10),
  ])
  fc.assert(
    fc.property(anySpans, anySpans, (wanted, have) => {
      const missing = subtractSpans(wanted, have)
      expect(points(missing)).toEqual(points(wanted).filter((at) => !points(have).includes(at)))
      expect(isNormal(missing)).toBe(true)
    }),
  )
})

/** Bars by resolution, as a store has them. */
const boundsIn =
  (bars: Partial<Record<Resolution, readonly number[]>>) =>
  async (r: Resolution, spans: readonly Span[]): Promise<(BarBounds | undefined)[]> =>
    spans.map(({ from, to }) => {
      const inside = (bars[r] ?? []).filter((time) => from <= time && time < to)
      return inside.length === 0
        ? undefined
        : { first: feedSeconds(Math.min(...inside)), last: feedSeconds(Math.max(...inside)) }
    })

const windowsOf = (given: Partial<Record<Resolution, readonly Span[]>>) =>
  new Map(Object.entries(given) as [Resolution, readonly Span[]][])

test('a minute without trades is no gap, a range that no window covers is one', async () => {
  const minutes = { '1': [0, 60, 600, 1_200] }
  expect(await coverage(windowsOf({ '1': [span(0, 1_260)] }), boundsIn(minutes))).toEqual([
    { from: 0, to: 1_200 },
  ])
  const outage = windowsOf({ '1': [span(0, 120), span(600, 1_260)] })
  expect(await coverage(outage, boundsIn(minutes))).toEqual([
    { from: 0, to: 60 },
    { from: 600, to: 1_200 },
  ])
})

test('a backfill without bars closes the gap that its window covers', async () => {
  const windows = windowsOf({ '1': [span(0, 120), span(600, 660), span(120, 600)] })
  expect(await coverage(windows, boundsIn({ '1': [0, 60, 600] }))).toEqual([{ from: 0, to: 600 }])
})

test('a coarser resolution covers the time before the finest, and the two are joined', async () => {
  const windows = windowsOf({ '1': [span(7_200, 10_800)], '60': [span(0, 10_800)] })
  const bars = { '1': [7_200, 10_740], '60': [0, 3_600, 7_200] }
  expect(await coverage(windows, boundsIn(bars))).toEqual([{ from: 0, to: 10_740 }])
})

test('where retention deleted minutes, hours cover the time before the first stored minute', async () => {
  const windows = windowsOf({ '1': [span(0, 10_800)], '60': [span(0, 10_800)] })
  const bars = { '1': [7_200, 7_260, 10_740], '60': [0, 3_600, 7_200] }
  expect(await coverage(windows, boundsIn(bars), new Set(['1']))).toEqual([{ from: 0, to: 10_740 }])
  expect(await coverage(windows, boundsIn(bars))).toEqual([{ from: 7_200, to: 10_740 }])
})

test('a finer resolution without a bar hides no coarser one', async () => {
  const windows = windowsOf({ '1': [span(0, 7_200)], '60': [span(0, 7_200)] })
  expect(await coverage(windows, boundsIn({ '60': [0, 3_600] }))).toEqual([{ from: 0, to: 3_600 }])
})

test('a gap in the minutes is not filled by hours', async () => {
  const windows = windowsOf({ '1': [span(0, 600), span(1_200, 1_800)], '60': [span(0, 3_600)] })
  const bars = { '1': [0, 540, 1_200, 1_740], '60': [0] }
  expect(await coverage(windows, boundsIn(bars))).toEqual([
    { from: 0, to: 540 },
    { from: 1_200, to: 1_740 },
  ])
})

test('a symbol without data has an empty coverage', async () => {
  expect(await coverage(new Map(), boundsIn({}))).toEqual([])
  expect(await coverage(windowsOf({ '1': [span(0, 60)] }), boundsIn({}))).toEqual([])
})

interface Scene {
  readonly windows: Partial<Record<Resolution, readonly Span[]>>
  readonly bars: Partial<Record<Resolution, readonly number[]>>
}
const perResolution = <T>(values: fc.Arbitrary<T>) =>
  fc.dictionary(fc.constantFrom(...resolutions), values) as fc.Arbitrary<Partial<Record<Resolution, T>>>
const scene: fc.Arbitrary<Scene> = fc.record({
  windows: perResolution(anySpans),
  bars: perResolution(fc.array(fc.nat(pointMax))),
})

/** The rule of coverage, checked at single points of time. */
function coverageByHand({ windows, bars }: Scene): { from: number; to: number }[] {
  const pieces: { points: number[]; bars: number[] }[] = []
  let cut = Number.POSITIVE_INFINITY
  for (const r of resolutions.filter((each) => each !== '30')) {
    const kept = joinSpans(windows[r] ?? [])
      .map((each) => points([each]).filter((at) => at < cut))
      .map((inside) => ({ points: inside, bars: inside.filter((at) => bars[r]?.includes(at)) }))
      .filter((piece) => piece.bars.length > 0)
    pieces.push(...kept)
    cut = Math.min(cut, ...kept.flatMap((piece) => piece.points))
  }
  const joined: { points: number[]; bars: number[] }[] = []
  for (const piece of pieces.sort((a, b) => a.points[0]! - b.points[0]!)) {
    const last = joined.at(-1)
    if (last?.points.at(-1) !== piece.points[0]! - 1) joined.push(piece)
    else
      joined.splice(-1, 1, { points: [...last.points, ...piece.points], bars: [...last.bars, ...piece.bars] })
  }
  return joined.map((piece) => ({ from: piece.bars[0]!, to: piece.bars.at(-1)! }))
}

test('coverage follows its rule, in whatever order windows and resolutions were acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (given) => {
      const expected = coverageByHand(given)
      const reversed = Object.entries(given.windows).map(([r, spans]) => [r, spans?.toReversed()] as const)
      expect(await coverage(windowsOf(given.windows), boundsIn(given.bars))).toEqual(expected)
      expect(await coverage(windowsOf(Object.fromEntries(reversed.reverse())), boundsIn(given.bars))).toEqual(
        expected,
      )
    }),
  )
})
