import { defaultMaxGapSeconds } from '../../core/bars/clusters.ts'
import { joinSpans, subtractSpans } from '../../core/bars/coverage.ts'
import type { Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds, later } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { WindowSender } from '../connection/window-sender.ts'
import { closedUntil } from '../series/closed-until.ts'
import type { CollectedSeries } from '../series/collected-series.ts'
import type { ClosedBars } from './closed-bars.ts'
import type { FeedTime } from './feed-time.ts'

/** The part of a span that may be claimed as complete: times whose bars can no longer change. */
export function trimClaim(series: CollectedSeries, span: Span, now: FeedSeconds | undefined): Span {
  const end = now === undefined ? span.to : closedUntil(series.resolution, now, series.delaySeconds)
  return { from: span.from, to: feedSeconds(Math.min(span.to, end, series.formingAt)) }
}

export interface ClaimsDeps {
  readonly windows: WindowSender
  readonly settled: (r: Resolution) => Promise<void>
  readonly time: FeedTime
  readonly bars: Pick<ClosedBars, 'of'>
  /** Called for a claim that failed; the next session reads these bars again. */
  readonly failed: (cause: unknown) => void
}

/** Sends windows, each only after all bars in it were acknowledged. */
export class Claims {
  readonly #deps: ClaimsDeps
  /** Where the feed-wide windows of this session begin and end. */
  readonly #feedWide = new Map<Resolution, Span>()

  constructor(deps: ClaimsDeps) {
    this.#deps = deps
  }

  /** Claims spans of one series. `stored` resolves when its bars on the backfill lane are stored. */
  series(series: CollectedSeries, spans: readonly Span[], stored?: Promise<void>): void {
    const now = this.#deps.time.now()
    const claimed = joinSpans(spans.map((span) => trimClaim(series, span, now)))
    const missing = claimed.filter((span) => subtractSpans([span], series.covered).length > 0)
    for (const span of missing) this.#sendAfter(series, series.resolution, span, stored)
  }

  /**
   * The source has watched all symbols since `span.from` and reported all bars that opened before `span.to`.
   * The feed-wide window grows by that span. In a new session it begins at the latest time that any series
   * was read to. Series that were read less far get separate windows up to that time. Nothing is claimed in
   * two cases: `early` (a series is not live yet) and `interrupted` (the source missed bars of a series).
   * While some series are late, the others get windows of their own. The feed-wide window grows over that time later.
   */
  watched(r: Resolution, span: Span, late?: ReadonlySet<string>): 'claimed' | 'early' | 'interrupted' {
    const collected = this.#deps.bars.of(r)
    const all = collected.filter(({ raw }) => !late?.has(raw))
    // Without a clock a read has no known time. A source that never misses a bar, from time 0 on, needs none.
    const isReady = ({ isLive, readAt }: CollectedSeries): boolean =>
      isLive && (readAt !== undefined || span.from === 0)
    if (all.length === 0 || !all.every(isReady)) return 'early'
    if (all.some(({ readAt = span.from }) => span.from > readAt)) return 'interrupted'
    const to = feedSeconds(Math.min(span.to, ...all.map(({ formingAt }) => formingAt)))
    if (all.length < collected.length) {
      for (const series of all) this.#fillUpTo(series, to, to)
      return 'claimed'
    }
    const start = all.map(({ claimedUntil }) => claimedUntil).reduce(later) ?? to
    const before = this.#feedWide.get(r) ?? { from: start, to: start }
    // A followed folder does not tell a closed market from a missing file. So a long time without a line is a gap, as in
    // the windows of the files.
    const isGap = span.from === 0 && to - before.to > defaultMaxGapSeconds(r)
    const wide = isGap ? { from: before.from, to } : before
    for (const series of all) this.#fillUpTo(series, feedSeconds(Math.max(wide.from, series.since ?? 0)), to)
    this.#feedWide.set(r, { from: wide.from, to: feedSeconds(Math.max(wide.to, to)) })
    if (to > wide.to) this.#sendAfter(undefined, r, { from: wide.to, to })
    return 'claimed'
  }

  /** Feed-wide windows count for this series only from `start` on; a separate window covers earlier times. */
  #fillUpTo(series: CollectedSeries, start: FeedSeconds, watchedTo: FeedSeconds): void {
    const from = series.claimedUntil
    const { to } = trimClaim(
      series,
      { from: start, to: feedSeconds(Math.min(start, watchedTo)) },
      this.#deps.time.now(),
    )
    if (from === undefined || from >= to) return
    series.claimedUntil = to
    this.#sendAfter(series, series.resolution, { from, to })
  }

  /** Sends the window of the series, or the feed-wide one, without the times of bars that were not stored. */
  #sendAfter(
    series: CollectedSeries | undefined,
    resolution: Resolution,
    span: Span,
    stored?: Promise<void>,
  ): void {
    const { settled } = this.#deps
    Promise.all([settled(resolution), stored])
      .then(() =>
        series
          ? this.#send(series.name, resolution, series.unstored.outside([span]))
          : this.#sendWide(resolution, span),
      )
      .catch(this.#deps.failed)
  }

  /** Where bars of one series were not stored, the other series get separate windows. */
  async #sendWide(r: Resolution, claimed: Span): Promise<void> {
    const all = this.#deps.bars.of(r)
    const wide = this.#feedWide.get(r)
    const to = feedSeconds(
      Math.max(claimed.from, Math.min(claimed.to, ...all.map(({ formingAt }) => formingAt))),
    )
    // Ingest refused a bar as not closed meanwhile: the next report claims its time.
    if (wide && to < claimed.to) this.#feedWide.set(r, { ...wide, to: feedSeconds(Math.min(wide.to, to)) })
    const span = { from: claimed.from, to }
    const whole = all.reduce<readonly Span[]>((left, { unstored }) => unstored.outside(left), [span])
    const rest = subtractSpans([span], whole)
    const own = rest.length === 0 ? [] : all
    await Promise.all([
      this.#send('', r, whole),
      ...own.map(({ name, unstored }) => this.#send(name, r, unstored.outside(rest))),
    ])
  }

  async #send(symbol: string, resolution: Resolution, spans: readonly Span[]): Promise<void> {
    for (const span of spans) await this.#deps.windows.send(symbol, resolution, span)
  }
}
