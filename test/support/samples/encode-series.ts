import type { Bars } from '../../../services/core/bars/bar.ts'
import { encodeDeltas, toInteger } from '../../../services/core/bars/prices.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import type { SeriesBars } from '../../../services/wire/gen/fxd/v1/SeriesBars.ts'

/** Bars as a message object for the protobuf library; a simple model of `encodeSeriesBars`. */
export function encodeSeries(
  series: { readonly symbol: string; readonly resolution: Resolution; readonly scale: number },
  bars: Bars,
): SeriesBars {
  const units = (column: Float64Array): number[] =>
    encodeDeltas(column.map((price) => toInteger(price, series.scale)))
  return {
    ...series,
    time: encodeDeltas(bars.time),
    open: units(bars.open),
    high: units(bars.high),
    low: units(bars.low),
    close: units(bars.close),
    volume: encodeDeltas(bars.volume),
    revision: encodeDeltas(bars.revision),
  }
}
