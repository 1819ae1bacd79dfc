import { goodLines, type LineRules } from '../../../collector/sources/mt5-csv/export/good-lines.ts'
import { readExport } from '../../../collector/sources/mt5-csv/export/read-export.ts'
import { type Bars, barCount } from '../../../core/bars/bar.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import { explained, type ImportedFile } from './inspect-file.ts'
import type { Refusals } from './refusals.ts'

/** Until bars are sent, `revision` has the line number: of duplicates the later line is the greater one. */
export type LineBars = Bars

export interface ReadRules extends Pick<LineRules, 'resolution' | 'decimalsMax'> {
  /** The current time on the feed's clock; `undefined` while that clock is unknown. */
  readonly feedNow: () => FeedSeconds | undefined
  /** Whether the file was written since it was inspected: then a last line without a line end is refused. */
  readonly hasChanged: () => Promise<boolean>
  /** Called with the number of such a line that was accepted. */
  readonly onUnended?: (line: number) => void
  /** Called with the decimals of each line that has more than `decimalsMax`. */
  readonly onTooFine?: (decimals: number) => void
}

/** Streams the file's good lines in its order, piece by piece. Other lines are refused by number. */
export async function* readLines(
  { path, name }: ImportedFile,
  rules: ReadRules,
  refusals: Refusals,
): AsyncGenerator<LineBars> {
  const chunks = readExport(path, { resolution: rules.resolution, finished: true })
  try {
    for (;;) {
      const { done, value } = await explained(name, () => chunks.next())
      if (done) return
      const { unendedLine } = value
      const cutLine = unendedLine !== undefined && (await rules.hasChanged()) ? unendedLine : undefined
      const good = goodLines(value, { ...rules, now: rules.feedNow(), cutLine })
      const { bars, lines, rejected, tooFine } = good
      for (const { line, reason } of rejected) refusals.add(line, reason)
      for (const { decimals } of tooFine) rules.onTooFine?.(decimals)
      if (unendedLine !== undefined && lines.at(-1) === unendedLine) rules.onUnended?.(unendedLine)
      bars.revision.set(lines)
      refusals.times.add(good)
      if (barCount(bars) > 0) yield bars
    }
  } finally {
    await chunks.return(undefined as never)
  }
}
