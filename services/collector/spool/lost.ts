import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../core/feeds/resolution.ts'
import type { EncodedSeries } from '../../wire/encode-bars.ts'
import { type CleanSeriesId, cleanSeriesId } from '../series/series-id.ts'
import type { SpooledSeries } from './record.ts'

/** The range of one series' bars that were dropped at the spool's bound; kept bars may lie between. */
export interface LostSpan extends Span {
  /** Clean name. It is empty when all series of the resolution are merged, because too many of them lost bars. */
  readonly symbol: string
  readonly resolution: Resolution
  readonly bars: number
}

/** Maximum series with a range of their own; above it all of a resolution are merged, so that a record stays small. */
const lostSeriesMax = 10_000
const nothing = new Uint8Array(0) as EncodedSeries

/** Bars dropped from the spool without an Ack, one range per series, until ingest knows of them. */
export class Lost {
  readonly #series = new Map<CleanSeriesId, SpooledSeries>()

  add(list: readonly SpooledSeries[]): void {
    for (const each of list) {
      this.#merge(each, this.#series.has(cleanSeriesId({ ...each, symbol: '' })) ? '' : each.symbol)
      if (this.#series.size <= lostSeriesMax) continue
      const all = this.series
      this.clear()
      for (const one of all) this.#merge(one, '')
    }
  }

  #merge({ resolution, first, last, count }: SpooledSeries, symbol: string): void {
    const id = cleanSeriesId({ symbol, resolution })
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

  clear(): void {
    this.#series.clear()
  }

  /** In the form of a spool record. */
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
