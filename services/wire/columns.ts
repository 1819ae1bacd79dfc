import { allocateBars, type Bars, barCount } from '../core/bar.ts'
import { decodeDeltas, fromInteger } from '../core/prices.ts'
import type { SeriesBars__Output } from './fxd/v1/SeriesBars.ts'

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
