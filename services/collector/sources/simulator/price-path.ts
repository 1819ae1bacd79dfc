import type { Liquidity } from './liquidity.ts'
import { chance, noise, pick } from './noise.ts'

export interface Instrument {
  readonly seed: number
  readonly basePrice: number
  /** Typical relative move of an hour. */
  readonly volatility: number
  readonly digits: number
  readonly liquidity: readonly Liquidity[]
}

/** Prices in whole points (price * 10^digits). */
export interface Hour {
  readonly open: number
  readonly high: number
  readonly low: number
  readonly close: number
  readonly volume: number
  /** The minutes of the extremes, and the liquidity of the hour. */
  readonly highMinute: number
  readonly lowMinute: number
  readonly liquidity: Liquidity
  readonly ticksPerWeight: number
}

const salt = {
  liquidity: 11,
  high: 12,
  low: 13,
  highMinute: 14,
  lowMinute: 15,
  ticks: 16,
  jitter: 17,
} as const
/** Hours between the points of each layer of noise; slower layers have larger moves. */
const layers = [1, 5, 24, 24 * 9, 24 * 70, 24 * 500]

/** The price at the start of an hour, in points. Hours count from 1970 in UTC. */
function priceAt(instrument: Instrument, hour: number): number {
  let move = 0
  layers.forEach((period, layer) => {
    move += noise(instrument.seed, hour, period, layer) * Math.sqrt(period) * instrument.volatility
  })
  return Math.max(1, Math.round(instrument.basePrice * Math.exp(move) * 10 ** instrument.digits))
}

/** Longer bars are folded from hours and shorter ones lie within one, so all resolutions agree. */
export function hourOf(instrument: Instrument, hour: number): Hour {
  const { seed, volatility } = instrument
  const open = priceAt(instrument, hour)
  const close = priceAt(instrument, hour + 1)
  const reach = (which: number): number => Math.round(open * volatility * chance(seed, hour, which) * 0.6)
  const liquidity = instrument.liquidity[
    pick(seed, hour, salt.liquidity, instrument.liquidity.length)
  ] as Liquidity
  const at = (which: number): number =>
    liquidity.inner[pick(seed, hour, which, liquidity.inner.length)] as number
  const ticksPerWeight = 1 + pick(seed, hour, salt.ticks, 12)
  return {
    open,
    close,
    high: Math.max(open, close) + reach(salt.high),
    low: Math.max(1, Math.min(open, close) - reach(salt.low)),
    volume: liquidity.total * ticksPerWeight,
    highMinute: at(salt.highMinute),
    lowMinute: at(salt.lowMinute),
    liquidity,
    ticksPerWeight,
  }
}

/** The points that the hour's price passes, in time order. */
function turningPoints(hour: Hour): readonly (readonly [minute: number, price: number])[] {
  const high = [hour.highMinute, hour.high] as const
  const low = [hour.lowMinute, hour.low] as const
  const extremes = hour.highMinute < hour.lowMinute ? [high, low] : [low, high]
  return [[0, hour.open], ...extremes, [60, hour.close]]
}

/** The price at the start of each minute of an hour (61 values: the last is the hour's close), in points. */
export function minutePrices(instrument: Instrument, hour: Hour, hourNumber: number): Float64Array {
  const prices = new Float64Array(61)
  const points = turningPoints(hour)
  for (let leg = 0; leg + 1 < points.length; leg++) {
    const [fromMinute, fromPrice] = points[leg] as readonly [number, number]
    const [toMinute, toPrice] = points[leg + 1] as readonly [number, number]
    for (let minute = fromMinute; minute <= toMinute; minute++) {
      const share = toMinute === fromMinute ? 1 : (minute - fromMinute) / (toMinute - fromMinute)
      const edge = minute === fromMinute || minute === toMinute
      const sway = edge
        ? 0
        : (chance(instrument.seed, hourNumber * 60 + minute, salt.jitter) - 0.5) *
          (hour.high - hour.low) *
          0.1
      const price = Math.round(fromPrice + (toPrice - fromPrice) * share + sway)
      prices[minute] = Math.min(hour.high, Math.max(hour.low, price))
    }
  }
  return prices
}
