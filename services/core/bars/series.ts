import type { CompoundKey, FeedKey } from '../feeds/compound-key.ts'
import type { Resolution } from '../feeds/resolution.ts'
import type { Bars } from './bar.ts'

export interface Series {
  readonly feed: FeedKey
  readonly symbol: CompoundKey
  readonly resolution: Resolution
}

export interface SeriesBars {
  readonly series: Series
  readonly bars: Bars
}

/** Live: bars that just closed. Backfill: history, which yields to live bars. */
export type Lane = 'live' | 'backfill'

/** A map key; the resolution is first so that it needs no escaping. */
export const seriesId = (series: Pick<Series, 'symbol' | 'resolution'>): string =>
  `${series.resolution} ${series.symbol}`
