import { type Chunk, readExport } from '../../../collector/sources/mt5-csv/export/read-export.ts'
import { type Bars, barCount, loadBar, pickBars, timeAt } from '../../../core/bars/bar.ts'
import { barFault } from '../../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { explained, type ImportedFile } from './inspect-file.ts'
import type { Refusals } from './refusals.ts'

/**
 * Bars between file and service. Until they are sent, their `revision` column has the line number: the later
 * line is the greater one, as in the rule for duplicates.
 */
export type LineBars = Bars

export interface LineRules {
  readonly resolution: Resolution
  readonly digits: number
  /** Maximum decimals of a price: the digits, or one more on mid-quoted feeds. */
  readonly decimalsMax: number
  /** The current time on the feed's clock; `undefined` while that clock is unknown. */
  readonly feedNow: () => FeedSeconds | undefined
  /** Whether the file was written since it was inspected: then a last line without a line end is refused. */
  readonly hasChanged: () => Promise<boolean>
  /** Called with the number of such a line that was accepted. */
  readonly onUnended?: (line: number) => void
  /** Called with the decimals of each line that has more than `decimalsMax`. */
  readonly onTooFine?: (decimals: number) => void
}

/**
 * Streams the file's good lines in its order, piece by piece. Other lines are refused by number. The service checks
 * the same rules. This check comes first, so that a bad line neither replaces a good one of the same time nor is folded.
 */
export async function* readLines(
  { path, name }: ImportedFile,
  rules: LineRules,
  refusals: Refusals,
): AsyncGenerator<LineBars> {
  const chunks = readExport(path, { resolution: rules.resolution, finished: true })
  try {
    for (;;) {
      const { done, value } = await explained(name, () => chunks.next())
      if (done) return
      const { unendedLine } = value
      const isCut = unendedLine !== undefined && (await rules.hasChanged())
      const bars = keepGood(value, rules, refusals, isCut ? unendedLine : undefined)
      if (unendedLine !== undefined && bars.revision.at(-1) === unendedLine) rules.onUnended?.(unendedLine)
      if (barCount(bars) > 0) yield bars
    }
  } finally {
    await chunks.return(undefined as never)
  }
}

function keepGood(chunk: Chunk, rules: LineRules, refusals: Refusals, cutLine: number | undefined): LineBars {
  const { bars, lines, decimals } = chunk
  const rejected = [...chunk.bad]
  const limits = { now: rules.feedNow() }
  const bar = { time: feedSeconds(0), open: 0, high: 0, low: 0, close: 0, volume: 0 }
  const bad = new Set<number>()
  for (let i = 0; i < lines.length; i++) {
    loadBar(bars, i, bar)
    const fault =
      lines[i] === cutLine
        ? 'it has no line end, and the file was written during the import; import it again'
        : (decimals[i] as number) > rules.decimalsMax
          ? tooManyDecimals(decimals[i] as number, rules)
          : barFault(bar, rules.resolution, limits)?.message
    bars.revision[i] = lines[i] as number
    if ((decimals[i] as number) > rules.decimalsMax) rules.onTooFine?.(decimals[i] as number)
    if (fault === undefined) continue
    bad.add(i)
    rejected.push({ line: lines[i] as number, reason: fault, time: timeAt(bars, i) })
  }
  for (const { line, reason } of rejected) refusals.add(line, reason)
  const good = bad.size === 0 ? bars : pickBars(bars, (i) => !bad.has(i))
  refusals.times.add(good.time, good.revision, rejected)
  return good
}

function tooManyDecimals(got: number, { digits, decimalsMax }: LineRules): string {
  const half = decimalsMax > digits ? ' and the half unit' : ''
  return `price: got ${got} decimals, wanted at most ${decimalsMax}: the symbol has ${digits}${half}`
}
