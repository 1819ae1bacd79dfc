import type { Span } from '../bars/window.ts'
import { show } from '../show.ts'
import { didYouMean } from '../suggest.ts'
import { Fields, LineFault, type TextLine } from './fields.ts'
import type { TerminalSeries } from './lines.ts'

/** How the lines of a post or an answer are read. Fields are read in the order of their form. */
export type Forms<L extends { readonly line: string }> = {
  readonly [Name in L['line']]: {
    /** The name of the line and of its fields. */
    readonly form: string
    readonly read: (fields: Fields) => L
  }
}

/** `others`: lines that the caller reads. Throws `LineFault`. */
export function readLine<L extends { readonly line: string }>(
  forms: Forms<L>,
  line: TextLine,
  others: readonly string[] = [],
): L {
  const name = line.fields[0] ?? ''
  if (!Object.hasOwn(forms, name)) {
    const names = [...Object.keys(forms), ...others]
    const wanted = `wanted one of ${names.join(' ')}`
    throw new LineFault(
      `line ${line.number}: there is no line ${show(name)}${didYouMean(name, names)}, ${wanted}`,
    )
  }
  const { form, read } = forms[name as L['line']]
  return read(new Fields(line, form, 1))
}

export const readSeries = (fields: Fields): TerminalSeries => ({
  raw: fields.word(),
  resolution: fields.resolution(),
})

export function readSpan(fields: Fields): Span {
  const from = fields.seconds()
  const to = fields.seconds()
  if (to < from) throw fields.fault(`${from} (FROM) or later`)
  return { from, to }
}
