import { type Bars, barCount } from '../core/bars/bar.ts'

const prices = ['open', 'high', 'low', 'close'] as const

/** Maximum distance of a price from a multiple of its last decimal. The rounding error of large numbers is added to it. */
const unitTolerance = 1e-3

/** Indexes of the bars with a price that has more than `scale` decimals. */
export function barsAboveScale(bars: Bars, scale: number): number[] {
  const power = 10 ** scale
  const found: number[] = []
  for (let i = 0; i < barCount(bars); i++) {
    if (prices.some((column) => !isWhole((bars[column][i] as number) * power))) found.push(i)
  }
  return found
}

/** True for NaN too: the rules of bars refuse it, not the scale. The price and the product were rounded once each. */
const isWhole = (units: number): boolean =>
  !(Math.abs(units - Math.round(units)) > unitTolerance + Math.abs(units) * Number.EPSILON)
