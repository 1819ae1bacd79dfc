import { allocateBars, type Bars } from '../../../core/bars/bar.ts'
import type { TerminalBar } from '../../../core/terminal/lines.ts'

/** Bars in columns: ascending, each time once. Of two bars with one time the later one in the list counts. */
export function toBars(list: readonly TerminalBar[]): Bars {
  const byTime = new Map(list.map((bar) => [bar.time, bar]))
  const ascending = [...byTime.values()].sort((a, b) => a.time - b.time)
  const bars = allocateBars(ascending.length)
  ascending.forEach(({ time, open, high, low, close, volume }, i) => {
    bars.time[i] = time
    bars.open[i] = Number(open)
    bars.high[i] = Number(high)
    bars.low[i] = Number(low)
    bars.close[i] = Number(close)
    bars.volume[i] = volume
  })
  return bars
}
