import { type Bars, barCount } from '../core/bars/bar.ts'

const prices = ['open', 'high', 'low', 'close'] as const

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
