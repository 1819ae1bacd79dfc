import { type Bars, barCount, pickBars, sliceBars } from '../../core/bars/bar.ts'
import type { RefusedBar__Output } from '../../wire/gen/fxd/v1/RefusedBar.ts'
import type { CollectedSeries } from './collected-series.ts'

interface Part {
  readonly of: { readonly series: CollectedSeries }
  readonly bars: Bars
}

/** Notes with each series of one message which of its bars the answer says are stored, and which are not. */
export function recordStored(parts: readonly Part[], refused: readonly RefusedBar__Output[]): void {
  // A refusal of no particular bars speaks for the whole message.
  const isWhole = refused.some(({ count }) => count === 0)
  parts.forEach(({ of: { series }, bars }, position) => {
    const own = refused.filter((each) => each.series === position && each.count > 0)
    if (isWhole) series.holes.add(bars)
    else if (own.length === 0) series.holes.fill(bars)
    else {
      const lost = new Uint8Array(barCount(bars))
      for (const { index, count } of own) lost.fill(1, index, index + count)
      series.holes.fill(pickBars(bars, (i) => lost[i] === 0))
      for (const { index, count } of own) series.holes.add(sliceBars(bars, index, index + count))
    }
  })
}
