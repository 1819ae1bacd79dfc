import { barEnd } from '../../core/bars/closed.ts'
import type { Span } from '../../core/bars/window.ts'
import { feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { EncodedSeries } from '../../wire/encode-bars.ts'
import type { SpooledSeries } from './record.ts'

/** What of one series left a spool at its bound; other bars may lie between. */
export interface LostSpan extends Span {
  /** Clean name; empty where so many series were lost that those of a resolution are told as one. */
  readonly symbol: string
  readonly resolution: Resolution
  readonly bars: number
}

/** Beyond, those of a resolution are one: a record holds no more names, and nobody reads them. */
const lostSeriesMax = 10_000
const nothing = new Uint8Array(0) as EncodedSeries

/** What left the spool without an ack, one range for each series; ingest has not been told of it yet. */
export class Lost {
  readonly #series = new Map<string, SpooledSeries>()

  add(list: readonly SpooledSeries[]): void {
    for (const each of list) {
      this.#merge(each, this.#series.has(idOf({ ...each, symbol: '' })) ? '' : each.symbol)
      if (this.#series.size <= lostSeriesMax) continue
      const all = this.series
      this.clear()
      for (const one of all) this.#merge(one, '')
    }
  }

  #merge({ resolution, first, last, count }: SpooledSeries, symbol: string): void {
    const id = idOf({ symbol, resolution })
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

const idOf = ({ symbol, resolution }: Pick<SpooledSeries, 'symbol' | 'resolution'>): string =>
  `${resolution} ${symbol}`
