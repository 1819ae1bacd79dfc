import { fieldOf } from './fields.ts'
import { type Forms, readLine, readSeries, readSpan } from './forms.ts'
import { type Head, headOf, orFault, type PostFault, readHead } from './head.ts'
import type { AnswerLine } from './lines.ts'
import { TextLines } from './text-lines.ts'

export interface TerminalAnswer extends Head {
  readonly lines: readonly AnswerLine[]
}

const pauseMsMax = 86_400_000

/** The body of an answer with status 200. */
export const formatAnswer = (answer: TerminalAnswer): string =>
  headOf(answer) + answer.lines.map((line) => `${fieldsOf(line).map(fieldOf).join('\t')}\n`).join('')

function fieldsOf(each: AnswerLine): readonly string[] {
  switch (each.line) {
    case 'symbols':
    case 'standby':
      return [each.line]
    case 'select':
      return ['select', each.raw]
    case 'newest':
      return ['newest', each.series.raw, each.series.resolution, String(each.time ?? 0)]
    case 'want': {
      const { series, span } = each
      return ['want', series.raw, series.resolution, String(span.from), String(span.to)]
    }
    case 'pause':
      return ['pause', String(each.ms)]
    case 'say':
      return ['say', each.text]
  }
}

const forms: Forms<AnswerLine> = {
  symbols: { form: 'symbols', read: () => ({ line: 'symbols' }) },
  standby: { form: 'standby', read: () => ({ line: 'standby' }) },
  select: { form: 'select RAW', read: (fields) => ({ line: 'select', raw: fields.word() }) },
  newest: {
    form: 'newest RAW RESOLUTION TIME',
    read: (fields) => ({
      line: 'newest',
      series: readSeries(fields),
      time: fields.secondsOrNone(),
    }),
  },
  want: {
    form: 'want RAW RESOLUTION FROM TO',
    read: (fields) => ({
      line: 'want',
      series: readSeries(fields),
      span: readSpan(fields),
    }),
  },
  pause: { form: 'pause MS', read: (fields) => ({ line: 'pause', ms: fields.whole(pauseMsMax) }) },
  say: { form: 'say TEXT', read: (fields) => ({ line: 'say', text: fields.text() }) },
}

/** An answer with status 200, or its first fault. Never throws. */
export function parseAnswer(text: string): TerminalAnswer | PostFault {
  return orFault(() => {
    const lines = new TextLines(text)
    const head = readHead(lines)
    if ('code' in head) return head
    const read: AnswerLine[] = []
    for (let line = lines.next(); line; line = lines.next()) {
      read.push(readLine(forms, line))
    }
    return { ...head, lines: read }
  })
}

/** The body of a refusal: a code of the protocol and a sentence. */
export const formatRefusal = (code: string, sentence: string): string =>
  `error\t${code}\t${fieldOf(sentence)}\n`
