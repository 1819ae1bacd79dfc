import { type OddLine, oddLineText } from '../../collector/sources/mt5-csv/export/most-decimals.ts'
import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { fields } from '../table.ts'
import { minuteText } from '../time-text.ts'
import type { LeftOut } from './derive-series.ts'
import type { Refusal } from './file/refusals.ts'
import { grouped } from './progress.ts'
import type { SentCounts } from './send-series.ts'
import type { TooFine } from './too-fine-lines.ts'

/** Maximum refused lines in the text for a person; `--json` has more. */
const refusalsShown = 20
const spansShown = 5

type DerivedCounts = SentCounts &
  LeftOut & {
    /** Why the service refused the first derived bar that it refused. */
    readonly refusal?: string
  }

export interface ImportReport {
  readonly file: string
  readonly feed: string
  readonly symbol: string
  readonly resolution: Resolution
  readonly digits: number
  /** Lines of the file, including its header. */
  readonly lines: number
  readonly accepted: number
  readonly revised: number
  readonly unchanged: number
  readonly forming: number
  readonly refused: number
  /** Lines whose time a later line repeats; the later line was used. */
  readonly duplicates: number
  readonly refusals: readonly Refusal[]
  /** Half-open, on the feed's clock. */
  readonly windows: readonly Span[]
  readonly derived: Readonly<Partial<Record<Resolution, DerivedCounts>>>
  /** Windows that the service refused, with the first reason; their bars are stored. */
  readonly refused_windows?: { readonly count: number; readonly reason: string }
  /** A single line with more decimals than all others; it was ignored for the digits. */
  readonly odd_line?: OddLine
  readonly too_fine?: TooFine
  /** The last line, stored although it has no line end: its volume may be cut. */
  readonly unended_line?: number
  readonly seconds: number
  /** It failed before the end of the file; `lines` are those of the whole file. */
  readonly ended_early?: true
}

export type Outcome = Omit<ImportReport, 'seconds' | 'ended_early'>

export function reportText(report: ImportReport): string {
  return [
    `${report.feed}:${report.symbol}, resolution ${report.resolution}, ${report.digits} digits: ${linesText(report)}.\n`,
    indented(
      fields([
        ['accepted', grouped(report.accepted)],
        ['revised', grouped(report.revised)],
        ['unchanged', grouped(report.unchanged)],
        ['still forming', grouped(report.forming)],
        ['duplicates', `${grouped(report.duplicates)}${report.duplicates > 0 ? ' (the last line won)' : ''}`],
        ['refused', grouped(report.refused)],
      ]),
    ),
    ...refusalLines(report),
    ...oddLines(report),
    ...unendedLines(report),
    ...windowLines(report.windows),
    ...derivedLines(report),
  ].join('')
}

function linesText({ lines, seconds, ended_early: isEarly }: ImportReport): string {
  const time = `${seconds.toFixed(1)} s`
  if (isEarly) return `ended early after ${time}; the file has ${grouped(lines)} lines`
  const rate = seconds > 0 ? Math.round(lines / seconds) : 0
  return `${grouped(lines)} lines in ${time} (${grouped(rate)} a second)`
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')

function* refusalLines({ refusals, refused }: ImportReport): Generator<string> {
  const shown = refusals.slice(0, refusalsShown)
  for (const { line, reason } of shown) yield `    line ${line}: ${reason}\n`
  if (refused > shown.length) yield `    and ${grouped(refused - shown.length)} more\n`
}

function* oddLines({ odd_line: odd, digits }: ImportReport): Generator<string> {
  if (odd) yield `  ${oddLineText(odd, digits)}; --digits sets them\n`
}

function* unendedLines({ unended_line: line }: ImportReport): Generator<string> {
  if (line !== undefined)
    yield `  line ${line} has no line end; if it was cut within its volume, import the whole file again\n`
}

function* windowLines(windows: readonly Span[]): Generator<string> {
  for (const { from, to } of windows.slice(0, spansShown))
    yield `  covers ${minuteText(from)} to ${minuteText(to)}\n`
  if (windows.length > spansShown) yield `  and ${grouped(windows.length - spansShown)} more ranges\n`
}

const countNames = ['accepted', 'revised', 'unchanged', 'forming', 'refused'] as const

function* derivedLines({ derived }: ImportReport): Generator<string> {
  for (const [resolution, counts] of Object.entries(derived)) {
    const shown = countNames.filter((name) => counts[name] > 0 || name === 'accepted')
    yield `  derived ${resolution}: ${shown.map((name) => `${grouped(counts[name])} ${name}`).join(', ')}\n`
    for (const open of counts.incomplete_from.slice(0, spansShown))
      yield `    left out: the bar of resolution ${resolution} at ${minuteText(open)}; the file has no good line for some of its minutes\n`
    const more = counts.incomplete - Math.min(counts.incomplete, spansShown)
    if (more > 0) yield `    and ${grouped(more)} more left out\n`
  }
}
