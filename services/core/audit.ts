import { daySeconds } from './calendar.ts'
import type { CompoundKey } from './compound-key.ts'
import { joinSpans } from './coverage.ts'
import { type FeedSeconds, feedSeconds } from './feed-clock.ts'
import { isIntraday, type Resolution } from './resolution.ts'
import type { Span, Window } from './window.ts'

/** What is stored of one feed, by whole days of its clock (days since 1970). */
export interface HeldSeries {
  readonly symbol: CompoundKey
  readonly resolution: Resolution
  /** Days with a bar, ascending. */
  readonly days: readonly number[]
}

export interface Audited {
  readonly windows: readonly Window[]
  readonly held: readonly HeldSeries[]
  /** From when feed-wide windows count for a symbol; absent: they do not. */
  readonly since: ReadonlyMap<CompoundKey, FeedSeconds>
  /** Today's and yesterday's windows may still be on their way. */
  readonly now: FeedSeconds
}

/** One resolution of a feed in which windows and bars disagree. */
export interface Disagreement {
  /**
   * `empty`: windows say that the terminal answered completely for a day between stored ones, other
   * resolutions of the symbol have bars on it, and this one has none. `unclaimed`: bars lie on a day that
   * no window touches, so that coverage does not show them.
   */
  readonly kind: 'empty' | 'unclaimed'
  readonly resolution: Resolution
  /** Pairs of a symbol and a day. */
  readonly count: number
  readonly symbols: number
  readonly first: { readonly symbol: CompoundKey; readonly day: number }
  readonly last: { readonly symbol: CompoundKey; readonly day: number }
}

const secondsOf = (day: number): FeedSeconds => feedSeconds(day * daySeconds)
const dayOf = (at: number): number => Math.floor(at / daySeconds)

/** Compares what windows claim with what is stored, day by day. */
export function auditFeed({ windows, held, since, now }: Audited): readonly Disagreement[] {
  const claims = new Claims(windows, since)
  const settledBefore = dayOf(now) - 1
  const found = new Map<string, Found>()
  const note = (kind: Disagreement['kind'], { symbol, resolution }: HeldSeries, day: number): void => {
    const id = `${kind} ${resolution}`
    const each = found.get(id) ?? new Found(kind, resolution)
    found.set(id, each)
    each.add(symbol, day)
  }
  for (const ofSymbol of Map.groupBy(held, ({ symbol }) => symbol).values()) {
    const traded = new Set(ofSymbol.flatMap(({ resolution, days }) => (isIntraday(resolution) ? days : [])))
    for (const series of ofSymbol) {
      const spans = claims.of(series)
      for (const day of series.days)
        if (day < settledBefore && !touches(spans, day)) note('unclaimed', series, day)
      if (!isIntraday(series.resolution)) continue
      const own = new Set(series.days)
      const [oldest, newest] = [series.days[0] ?? 0, series.days.at(-1) ?? 0]
      for (const day of traded)
        if (day > oldest && day < newest && !own.has(day) && covers(spans, day)) note('empty', series, day)
    }
  }
  return [...found.values()].map((each) => each.disagreement())
}

/** The joined windows of each series, its own and those of the feed that count for it. */
class Claims {
  readonly #own = new Map<string, Window[]>()
  readonly #feedWide = new Map<Resolution, Window[]>()
  readonly #since: Audited['since']

  constructor(windows: readonly Window[], since: Audited['since']) {
    this.#since = since
    for (const window of windows) {
      const { symbol, resolution } = window
      if (symbol === undefined) push(this.#feedWide, resolution, window)
      else push(this.#own, `${resolution} ${symbol}`, window)
    }
  }

  of({ symbol, resolution }: HeldSeries): readonly Span[] {
    const since = this.#since.get(symbol)
    const wide = since === undefined ? [] : (this.#feedWide.get(resolution) ?? [])
    return joinSpans([
      ...(this.#own.get(`${resolution} ${symbol}`) ?? []),
      ...wide.map(({ from, to }) => ({ from: feedSeconds(Math.max(from, since ?? from)), to })),
    ])
  }
}

function push<K, V>(into: Map<K, V[]>, key: K, value: V): void {
  const list = into.get(key)
  if (list === undefined) into.set(key, [value])
  else list.push(value)
}

/** The last span that begins before `at`: the only one that can reach it. */
function spanBefore(spans: readonly Span[], at: FeedSeconds): Span | undefined {
  let [low, high] = [0, spans.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle] as Span).from < at) low = middle + 1
    else high = middle
  }
  return spans[low - 1]
}

const touches = (spans: readonly Span[], day: number): boolean =>
  (spanBefore(spans, secondsOf(day + 1))?.to ?? 0) > secondsOf(day)

function covers(spans: readonly Span[], day: number): boolean {
  const span = spanBefore(spans, feedSeconds(secondsOf(day) + 1))
  return span !== undefined && span.to >= secondsOf(day + 1)
}

class Found {
  readonly #kind: Disagreement['kind']
  readonly #resolution: Resolution
  readonly #symbols = new Set<CompoundKey>()
  #count = 0
  #first: Disagreement['first'] | undefined
  #last: Disagreement['last'] | undefined

  constructor(kind: Disagreement['kind'], resolution: Resolution) {
    this.#kind = kind
    this.#resolution = resolution
  }

  add(symbol: CompoundKey, day: number): void {
    this.#count++
    this.#symbols.add(symbol)
    if (this.#first === undefined || day < this.#first.day) this.#first = { symbol, day }
    if (this.#last === undefined || day > this.#last.day) this.#last = { symbol, day }
  }

  disagreement(): Disagreement {
    if (this.#first === undefined || this.#last === undefined) throw new Error('nothing was added')
    return {
      kind: this.#kind,
      resolution: this.#resolution,
      count: this.#count,
      symbols: this.#symbols.size,
      first: this.#first,
      last: this.#last,
    }
  }
}
