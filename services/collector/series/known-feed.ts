import { joinSpans } from '../../core/bars/coverage.ts'
import { type Span, spansOfSymbol } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { KnownSeries__Output } from '../../wire/gen/fxd/v1/KnownSeries.ts'
import { decodeWindows } from '../../wire/window-times.ts'
import { type CleanSeriesId, cleanSeriesId } from './series-id.ts'

/** What ingest has stored of a feed, by clean name and resolution; feed-wide windows have the empty name. */
export class KnownFeed {
  readonly #newest = new Map<CleanSeriesId, FeedSeconds>()
  readonly #windows = new Map<CleanSeriesId, Span[]>()

  constructor(series: readonly KnownSeries__Output[]) {
    for (const { symbol, resolution, newest, windows } of series) {
      const id = cleanSeriesId({ symbol, resolution })
      if (newest !== undefined) this.#newest.set(id, feedSeconds(newest))
      const spans = this.#windows.get(id) ?? []
      spans.push(...decodeWindows(windows))
      this.#windows.set(id, spans)
    }
  }

  newest(symbol: string, resolution: Resolution): FeedSeconds | undefined {
    return this.#newest.get(cleanSeriesId({ symbol, resolution }))
  }

  /** Feed-wide windows count from `since` on. For a delayed symbol each ends earlier by the delay. */
  covered(
    symbol: string,
    resolution: Resolution,
    since: FeedSeconds | undefined,
    delaySeconds: number,
  ): Span[] {
    const own = this.#windows.get(cleanSeriesId({ symbol, resolution })) ?? []
    const feedWide = this.#windows.get(cleanSeriesId({ symbol: '', resolution })) ?? []
    const ended = feedWide.map(({ from, to }) => ({ from, to: feedSeconds(to - delaySeconds) }))
    return joinSpans(spansOfSymbol(own, ended, since))
  }
}
