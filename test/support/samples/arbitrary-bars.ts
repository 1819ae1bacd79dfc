import fc from 'fast-check'
import { type Bars, barsOf, type RevisedBar } from '../../../services/core/bars/bar.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'

interface Shape {
  /** All times are multiples of this. */
  readonly stepSeconds?: number
  /** The greatest time, in steps; a small value makes equal times likely. */
  readonly steps?: number
  readonly lengthMax?: number
}

const price = fc.integer({ min: -4, max: 9 }).map((units) => units / 2)

/** Valid bars of few different values, so that equal times, prices and revisions are common. */
export const arbitraryBar = ({ stepSeconds = 60, steps = 40 }: Shape = {}): fc.Arbitrary<RevisedBar> =>
  fc
    .tuple(
      fc.integer({ min: 0, max: steps }),
      fc.tuple(price, price, price, price),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
    )
    .map(([step, prices, volume, revision]) => ({
      time: feedSeconds(step * stepSeconds),
      open: prices[0],
      high: Math.max(...prices),
      low: Math.min(...prices),
      close: prices[1],
      volume,
      revision,
    }))

/** Bars in any order, with repeated times. */
export const unsortedBars = (shape: Shape = {}): fc.Arbitrary<RevisedBar[]> =>
  fc.array(arbitraryBar(shape), { maxLength: shape.lengthMax ?? 30 })

/** Bars in ascending order, each time once. */
export const ascendingBars = (shape: Shape = {}): fc.Arbitrary<Bars> =>
  fc
    .uniqueArray(arbitraryBar(shape), { selector: (bar) => bar.time, maxLength: shape.lengthMax ?? 30 })
    .map((bars) => barsOf(bars.toSorted((a, b) => a.time - b.time)))
