import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { type Resolution, storedResolutions } from '../feeds/resolution.ts'
import type { BarBounds, Span } from './window.ts'

/** The union of spans: ascending, empty ones left out, touching and overlapping ones joined. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const ascending = spans.filter((span) => span.from < span.to).sort((a, b) => a.from - b.from)
  const joined: { from: FeedSeconds; to: FeedSeconds }[] = []
  for (const { from, to } of ascending) {
    const last = joined.at(-1)
    if (last !== undefined && from <= last.to) last.to = feedSeconds(Math.max(last.to, to))
    else joined.push({ from, to })
  }
  return joined
}

/**
 * The span together with the feed-wide spans that it touches, which count from `since` on. `feedWide` is joined and ascending.
 * Without this each session would leave a separate window of each series between its feed-wide windows.
 */
export function withTouching(span: Span, feedWide: readonly Span[], since: FeedSeconds | undefined): Span {
  if (since === undefined) return span
  const first = feedWide[firstIndex(feedWide, ({ to }) => to >= span.from)]
  const last = feedWide[firstIndex(feedWide, ({ from }) => from > span.to) - 1]
  const clipped = [first, last].flatMap((each) =>
    each === undefined ? [] : [{ from: feedSeconds(Math.max(each.from, since)), to: each.to }],
  )
  const grown = joinSpans([span, ...clipped]).find(({ from, to }) => from <= span.from && span.to <= to)
  return grown ?? span
}

/** The first index for which `fits` is true, or the length; once true it stays true. */
export function firstIndex<T>(list: readonly T[], fits: (each: T) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (fits(list[middle] as T)) high = middle
    else low = middle + 1
  }
  return low
}

/** Whether one of these joined, ascending spans has a time of this span. */
export function anyOverlaps(spans: readonly Span[], { from, to }: Span): boolean {
  const next = spans[firstIndex(spans, (each) => each.to > from)]
  return next !== undefined && next.from < to
}

/** The parts of `wanted` that no span of `have` covers, ascending and joined. */
export function subtractSpans(wanted: readonly Span[], have: readonly Span[]): Span[] {
  const covered = joinSpans(have)
  const missing: Span[] = []
  let i = 0
  for (const { from, to } of joinSpans(wanted)) {
    let start = from
    while (i < covered.length && (covered[i] as Span).to <= start) i++
    for (let k = i; k < covered.length && (covered[k] as Span).from < to; k++) {
      const span = covered[k] as Span
      if (span.from > start) missing.push({ from: start, to: span.from })
      start = feedSeconds(Math.max(start, span.to))
    }
    if (start < to) missing.push({ from: start, to })
  }
  return missing
}

interface Piece extends Span, BarBounds {}

/**
 * A symbol's coverage from its acknowledged windows, never from distances between bars. The finest resolution
 * counts as far back as it reaches, each coarser one before that. `boundsOf` returns the first and last stored
 * bar of each span. A window of a `pruned` resolution counts from its first stored bar, because retention may have deleted
 * earlier ones; coarser resolutions count before that.
 */
export async function coverage(
  windows: ReadonlyMap<Resolution, readonly Span[]>,
  boundsOf: (r: Resolution, spans: readonly Span[]) => Promise<readonly (BarBounds | undefined)[]>,
  pruned: ReadonlySet<Resolution> = new Set(),
): Promise<{ from: number; to: number }[]> {
  const pieces: Piece[] = []
  let cut = Number.POSITIVE_INFINITY
  for (const r of storedResolutions) {
    const spans = before(joinSpans(windows.get(r) ?? []), cut)
    const bounds = spans.length === 0 ? [] : await boundsOf(r, spans)
    spans.forEach((span, i) => {
      const held = bounds[i]
      if (held === undefined) return
      const from = pruned.has(r) ? held.first : span.from
      pieces.push({ ...span, ...held, from })
      cut = Math.min(cut, from)
    })
  }
  return joinPieces(pieces)
}

const before = (spans: readonly Span[], cut: number): Span[] =>
  spans
    .filter((span) => span.from < cut)
    .map((span) => ({ from: span.from, to: feedSeconds(Math.min(span.to, cut)) }))

function joinPieces(pieces: readonly Piece[]): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = []
  let end = Number.NEGATIVE_INFINITY
  for (const piece of pieces.toSorted((a, b) => a.from - b.from)) {
    const last = ranges.at(-1)
    if (last !== undefined && piece.from <= end) last.to = piece.last
    else ranges.push({ from: piece.first, to: piece.last })
    end = piece.to
  }
  return ranges
}
