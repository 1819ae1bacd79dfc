import { daySeconds } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import type { CompoundKey } from '../feeds/compound-key.ts'
import { durationSeconds, isIntraday, type Resolution } from '../feeds/resolution.ts'
import { firstIndex, joinSpans } from './coverage.ts'
import { bySeries, type Span, spansOfSymbol, type Window, windowSeriesId } from './window.ts'

/** The stored bars of one series, counted by day of the feed's clock. Days are numbered since 1970. */
export interface StoredSeries {
  readonly symbol: CompoundKey
  readonly resolution: Resolution
  /** Days with a bar, ascending. */
  readonly days: readonly StoredDay[]
}

export interface StoredDay {
  readonly day: number
  /** Number of times with a bar; a time that was read twice counts once. */
  readonly bars: number
}

export interface Audited {
  readonly windows: readonly Window[]
  readonly stored: readonly StoredSeries[]
  /** The time from which feed-wide windows count for a symbol; absent: they do not. */
  readonly since: ReadonlyMap<CompoundKey, FeedSeconds>
  /** The feed's time. Today and yesterday are not reported: their windows may not have arrived yet. */
  readonly now: FeedSeconds
}

/** One resolution of a feed in which windows and bars disagree. */
export interface Disagreement {
  /**
   * The kinds of disagreement:
   *  - `empty`: a day between stored days is claimed as complete. Other resolutions of the symbol have bars on
   *    it, this one has none;
   *  - `thin`: the same, but this resolution has fewer bars than the others imply. A bar of an hour needs at
   *    least one bar of a minute. Sixty bars of a minute need at least one of an hour;
   *  - `unclaimed`: bars are on a day that no window touches, so coverage does not show them.
   */
  readonly kind: 'empty' | 'thin' | 'unclaimed'
  readonly resolution: Resolution
  /** For `thin`: the least number of missing bars; else 0. */
  readonly missing: number
  /** Number of pairs of a symbol and a day. */
  readonly count: number
  readonly symbols: number
  readonly first: { readonly symbol: CompoundKey; readonly day: number }
  readonly last: { readonly symbol: CompoundKey; readonly day: number }
}

const secondsOf = (day: number): FeedSeconds => feedSeconds(day * daySeconds)
const dayOf = (at: number): number => Math.floor(at / daySeconds)

type Found = { -readonly [K in keyof Disagreement]: K extends 'symbols' ? Set<CompoundKey> : Disagreement[K] }

const begin = (kind: Found['kind'], resolution: Resolution, at: Found['first']): Found => ({
  kind,
  resolution,
  count: 0,
  missing: 0,
  symbols: new Set(),
  first: at,
  last: at,
})

export function auditFeed(audited: Audited): readonly Disagreement[] {
  const { stored, now } = audited
  const claims = claimedSpans(audited)
  const settledBefore = dayOf(now) - 1
  const found = new Map<string, Found>()
  const note = (
    kind: Disagreement['kind'],
    { symbol, resolution }: StoredSeries,
    day: number,
    missing = 0,
  ): void => {
    const id = `${kind} ${resolution}`
    const at = { symbol, day }
    const each = found.get(id) ?? begin(kind, resolution, at)
    found.set(id, each)
    each.count++
    each.missing += missing
    each.symbols.add(symbol)
    if (day < each.first.day) each.first = at
    if (day > each.last.day) each.last = at
  }
  for (const ofSymbol of Map.groupBy(stored, ({ symbol }) => symbol).values()) {
    const traded = Map.groupBy(
      ofSymbol.flatMap(({ resolution, days }) =>
        isIntraday(resolution) ? days.map((of) => ({ ...of, resolution })) : [],
      ),
      ({ day }) => day,
    )
    for (const series of ofSymbol) {
      const spans = claims(series)
      for (const { day } of series.days)
        if (day < settledBefore && !touches(spans, day)) note('unclaimed', series, day)
      if (!isIntraday(series.resolution)) continue
      const own = new Map(series.days.map(({ day, bars }) => [day, bars]))
      const [oldest, newest] = [series.days[0]?.day ?? 0, series.days.at(-1)?.day ?? 0]
      for (const [day, others] of traded) {
        if (day <= oldest || day >= newest || !covers(spans, day)) continue
        const bars = own.get(day) ?? 0
        const missing = Math.max(...others.map((other) => implied(series.resolution, other))) - bars
        if (bars === 0) note('empty', series, day)
        else if (missing > 0) note('thin', series, day, missing)
      }
    }
  }
  return [...found.values()].map((each) => ({ ...each, symbols: each.symbols.size }))
}

/** The least number of bars of a resolution on a day, derived from the count of another resolution. */
function implied(
  own: Resolution,
  { resolution, bars }: StoredDay & { readonly resolution: Resolution },
): number {
  const [ours, theirs] = [secondsOfBar(own), secondsOfBar(resolution)]
  const least = theirs < ours ? Math.ceil((bars * theirs) / ours) : bars
  // Bars of an hour and more begin with the session of the broker, so one of them may cross midnight.
  return Math.max(ours, theirs) < 3_600 || ours === theirs ? least : least - 1
}

const secondsOfBar = (r: Resolution): number => (r === '1M' ? Number.NaN : durationSeconds[r])

/** The joined windows of each series: its own, and those of the feed that count for it. */
function claimedSpans({ windows, since }: Audited): (series: StoredSeries) => readonly Span[] {
  const all = bySeries(windows)
  return ({ symbol, resolution }) => {
    const own = all.get(windowSeriesId({ symbol, resolution })) ?? []
    const feedWide = all.get(windowSeriesId({ symbol: undefined, resolution })) ?? []
    return joinSpans(spansOfSymbol(own, feedWide, since.get(symbol)))
  }
}

/** The last span that begins before `at`; no other can reach it. */
const spanBefore = (spans: readonly Span[], at: FeedSeconds): Span | undefined =>
  spans[firstIndex(spans, ({ from }) => from >= at) - 1]

const touches = (spans: readonly Span[], day: number): boolean =>
  (spanBefore(spans, secondsOf(day + 1))?.to ?? 0) > secondsOf(day)

function covers(spans: readonly Span[], day: number): boolean {
  const span = spanBefore(spans, feedSeconds(secondsOf(day) + 1))
  return span !== undefined && span.to >= secondsOf(day + 1)
}
