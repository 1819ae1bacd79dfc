import type { SourceSeries } from '../source.ts'

declare const name: unique symbol

/** Map key of a series by the raw name of its source. */
export type RawSeriesId = string & { readonly [name]: 'raw' }
/** Map key of a series by the clean name, which differs where the broker's names have a suffix. */
export type CleanSeriesId = string & { readonly [name]: 'clean' }

export const rawSeriesId = ({ raw, resolution }: SourceSeries): RawSeriesId =>
  `${resolution} ${raw}` as RawSeriesId

/** `symbol` is the clean name; it is empty for what counts for all symbols. */
export const cleanSeriesId = (of: { readonly symbol: string; readonly resolution: string }): CleanSeriesId =>
  `${of.resolution} ${of.symbol}` as CleanSeriesId
