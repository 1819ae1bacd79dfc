import { barEnd } from '../../core/closed.ts'
import { feedSeconds } from '../../core/feed-clock.ts'
import type { Resolution } from '../../core/resolution.ts'
import type { Span } from '../../core/window.ts'
import type { EncodedSeries } from '../../wire/encode-bars.ts'
import type { SpooledSeries } from './record.ts'

/** What of one series left a spool at its bound; other bars may lie between. */
export interface LostSpan extends Span {
  /** Clean name. */
  readonly symbol: string
  readonly resolution: Resolution
  readonly bars: number
}

const nothing = new Uint8Array(0) as EncodedSeries

/** What left the spool unsent, one range for each series; ingest has not been told of it yet. */
export class Lost {
  readonly #series = new Map<string, SpooledSeries>()

  add(list: readonly SpooledSeries[]): void {
    for (const { symbol, resolution, first, last, count } of list) {
      const id = `${resolution} ${symbol}`
      const had = this.#series.get(id)
      this.#series.set(id, {
        symbol,
        resolution,
        first: feedSeconds(Math.min(first, had?.first ?? first)),
        last: feedSeconds(Math.max(last, had?.last ?? last)),
        count: count + (had?.count ?? 0),
        encoded: nothing,
      })
    }
  }

  clear(): void {
    this.#series.clear()
  }

  /** As a record of the spool keeps it. */
  get series(): readonly SpooledSeries[] {
    return [...this.#series.values()]
  }

  get spans(): readonly LostSpan[] {
    return this.series.map(({ symbol, resolution, first, last, count }) => ({
      symbol,
      resolution,
      from: first,
      to: barEnd(last, resolution),
      bars: count,
    }))
  }
}
