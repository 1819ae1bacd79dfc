import type { Resolution } from '../../../../core/feeds/resolution.ts'
import { type BadLine, type OpenFile, readExport } from './read-export.ts'

/** Lines from which the digits are determined. */
const digitsLines = 1_000
/** Minimum other lines that are needed to ignore a single odd one. */
const othersMin = 2

export interface MostDecimals {
  readonly digits: number
  /** A single line with more decimals than all others; it is ignored. */
  readonly odd?: OddLine
}

export interface OddLine {
  /** Counted from 1. */
  readonly line: number
  readonly decimals: number
}

export interface MostDecimalsOptions {
  readonly openFile?: OpenFile
  /** Whether it reads beyond the first lines until one is a bar. */
  readonly untilBar?: boolean
  /** Called with the lines that are no bars. */
  readonly onBad?: (bad: readonly BadLine[]) => void
}

/** Describes the ignored line in half a sentence. */
export const oddLineText = ({ line, decimals }: OddLine, digits: number): string =>
  `line ${line} alone has ${decimals} decimals, so it does not decide the digits: they are ${digits}`

/**
 * Returns the most decimals of a price in an export's first lines. A single line with more decimals than all others
 * is ignored. Returns `undefined` when none of the lines is a bar.
 */
export async function mostDecimals(
  path: string,
  resolution: Resolution,
  { openFile, untilBar = false, onBad }: MostDecimalsOptions = {},
): Promise<MostDecimals | undefined> {
  const options = { resolution, finished: true, ...(openFile && { openFile }) }
  const most = { decimals: -1, line: 0, count: 0 }
  let others = -1
  let bars = 0
  let left = digitsLines
  for await (const { lines, decimals, bad } of readExport(path, options)) {
    for (const [i, each] of decimals.subarray(0, left).entries()) {
      bars++
      if (each === most.decimals) most.count++
      else if (each > most.decimals) {
        others = most.decimals
        Object.assign(most, { decimals: each, line: lines[i], count: 1 })
      } else others = Math.max(others, each)
    }
    left -= lines.length + bad.length
    onBad?.(bad)
    if (untilBar && bars === 0) left = digitsLines
    if (left <= 0) break
  }
  if (bars === 0) return undefined
  if (most.count > 1 || bars - 1 < othersMin) return { digits: most.decimals }
  return { digits: others, odd: { line: most.line, decimals: most.decimals } }
}
