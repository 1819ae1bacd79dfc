import type { Bars } from '../../../services/core/bars/bar.ts'
import { toInteger } from '../../../services/core/bars/prices.ts'
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

/** A column of integers as its first value and the differences that follow. */
function encodeDeltas(column: Float64Array): number[] {
  const deltas: number[] = []
  let previous = 0
  for (const value of column) {
    deltas.push(value - previous)
    previous = value
  }
  return deltas
}
