import { type Bars, loadBar, pickBars, timeAt } from '../../../../core/bars/bar.ts'
import { barFault } from '../../../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../../core/feeds/resolution.ts'
import type { BadLine, Chunk } from './read-export.ts'

/** A line with a price of more decimals than its symbol has, or than all other lines have. */
export interface FineLine {
  /** Counted from 1. */
  readonly line: number
  readonly decimals: number
}

export interface LineRules {
  readonly resolution: Resolution
  /** Maximum decimals of a price: the digits of the symbol, or one more on mid-quoted feeds. */
  readonly decimalsMax: number
  /** "Now" on the feed's clock, for an import: it refuses later bars. */
  readonly now?: FeedSeconds | undefined
  /** A last line without a line end, of a file that was written while an import read it. */
  readonly cutLine?: number | undefined
}

export interface GoodLines {
  readonly bars: Bars
  /** The line number of each bar. */
  readonly lines: Uint32Array
  readonly rejected: readonly BadLine[]
  readonly tooFine: readonly FineLine[]
}

/**
 * Separates the lines of an export that are bars from all others. Ingest checks the same rules. This check comes first,
 * so that a bad line neither replaces a good one of the same time nor is folded. Prices are never rounded.
 */
export function goodLines({ bars, lines, decimals, bad }: Chunk, rules: LineRules): GoodLines {
  const { resolution, decimalsMax, cutLine } = rules
  const rejected = [...bad]
  const tooFine: FineLine[] = []
  const good = new Uint32Array(lines.length)
  let count = 0
  const bar = { time: feedSeconds(0), open: 0, high: 0, low: 0, close: 0, volume: 0 }
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as number
    const found = decimals[i] as number
    loadBar(bars, i, bar)
    const isTooFine = found > decimalsMax
    if (isTooFine) tooFine.push({ line, decimals: found })
    const reason =
      line === cutLine
        ? 'it has no line end, and the file was written during the import; import it again'
        : isTooFine
          ? `price: got ${found} decimals, wanted at most ${decimalsMax}, as the symbol has`
          : barFault(bar, resolution, rules)?.message
    if (reason === undefined) good[count++] = i
    else rejected.push({ line, reason, time: timeAt(bars, i) })
  }
  if (count === lines.length) return { bars, lines, rejected, tooFine }
  const kept = good.subarray(0, count)
  return { bars: pickBars(bars, kept), lines: kept.map((i) => lines[i] as number), rejected, tooFine }
}
