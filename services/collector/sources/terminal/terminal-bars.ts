import { type Bars, barsOf } from '../../../core/bars/bar.ts'
import type { TerminalBar } from '../../../core/terminal/lines.ts'

/** Bars in columns: ascending, each time once. Of two bars with one time the later one in the list counts. */
export function toBars(list: readonly TerminalBar[]): Bars {
  const byTime = new Map(list.map((bar) => [bar.time, bar]))
  const ascending = [...byTime.values()].sort((a, b) => a.time - b.time)
  return barsOf(
    ascending.map(({ time, open, high, low, close, volume }) => ({
      time,
      open: Number(open),
      high: Number(high),
      low: Number(low),
      close: Number(close),
      volume,
    })),
  )
}
