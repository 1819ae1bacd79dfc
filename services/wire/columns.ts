import { allocateBars, type Bars, barCount } from '../core/bar.ts'
import { decodeDeltas, encodeDeltas, fromInteger, toInteger } from '../core/prices.ts'
import type { Resolution } from '../core/resolution.ts'
import type { SeriesBars, SeriesBars__Output } from './fxd/v1/SeriesBars.ts'

const prices = ['open', 'high', 'low', 'close'] as const
const others = ['high', 'low', 'close', 'open', 'volume', 'revision'] as const

/** A terminal's doubles come this near to a whole number of the last decimal; what is farther off has more decimals. */
const unitTolerance = 1e-3

/** Indexes of the bars with a price that `scale` decimals cannot hold. */
export function beyondScale(bars: Bars, scale: number): number[] {
  const power = 10 ** scale
  const found: number[] = []
  for (let i = 0; i < barCount(bars); i++) {
    if (prices.some((column) => !isWhole((bars[column][i] as number) * power))) found.push(i)
  }
  return found
}

/** What is no number at all is for the rules of bars to refuse, not for the scale. */
const isWhole = (units: number): boolean => !(Math.abs(units - Math.round(units)) > unitTolerance)

/** Bars, ascending, as the columns of one `SeriesBars`. */
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

/** The columns of a message as bars; a sentence when they are not of one length. */
export function decodeSeries(message: SeriesBars__Output): Bars | string {
  const count = message.time.length
  for (const column of others) {
    if (message[column].length !== count) {
      return `${column}: got ${message[column].length} values, wanted ${count} as in time`
    }
  }
  const bars = allocateBars(count)
  decodeDeltas(message.time, bars.time)
  decodeDeltas(message.volume, bars.volume)
  decodeDeltas(message.revision, bars.revision)
  for (const column of prices) {
    decodeDeltas(message[column], bars[column])
    toPrices(bars[column], message.scale)
  }
  return bars
}

function toPrices(column: Float64Array, scale: number): void {
  for (let i = 0; i < column.length; i++) {
    const units = column[i] as number
    // Beyond 2^53 the sums of the differences are no longer exact: better no price than a wrong one.
    column[i] = Number.isSafeInteger(units) ? fromInteger(units, scale) : Number.POSITIVE_INFINITY
  }
}
