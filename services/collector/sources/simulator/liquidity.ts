import { chance } from './noise.ts'

/** The minutes of an hour that have trades, and how the hour's ticks spread over them; `total` is the sum of `weights`. */
export interface Liquidity {
  readonly weights: Uint8Array
  /** Minutes with trades, without the first and the last, ascending. */
  readonly inner: readonly number[]
  readonly total: number
}

const patternCount = 32
const minutes = 60

/** The first and last minute always have trades, so that an hour's open and close are those of its minutes. */
function pattern(index: number, quietShare: number): Liquidity {
  const weights = new Uint8Array(minutes)
  const inner: number[] = []
  for (let minute = 0; minute < minutes; minute++) {
    const edge = minute === 0 || minute === minutes - 1
    if (!edge && chance(index, minute, 1) < quietShare) continue
    weights[minute] = 1 + Math.floor(chance(index, minute, 2) * 9)
    if (!edge) inner.push(minute)
  }
  return { weights, inner, total: weights.reduce((sum, weight) => sum + weight, 0) }
}

const patterns = (quietShare: number): readonly Liquidity[] =>
  Array.from({ length: patternCount }, (_, index) => pattern(index, quietShare))

/** Every minute has trades. */
export const busy = patterns(0)
/** About one minute in four has no trade. */
export const quiet = patterns(0.25)
