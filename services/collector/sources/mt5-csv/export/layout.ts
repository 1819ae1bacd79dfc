import type { Resolution } from '../../../../core/feeds/resolution.ts'

export interface Layout {
  readonly separator: Separator
  /** False for MT4's form: its first line is a bar. */
  readonly hasHeader: boolean
  /** Exports of 1D and longer have no time column. */
  readonly hasTime: boolean
  /** Whether the first column has date and time, separated by a space. */
  readonly isTimeInDate: boolean
  /** Columns of a line: `<VOL>` and `<SPREAD>` are optional in MT5 exports and absent in MT4 ones. */
  readonly columnsMin: number
  readonly columnsMax: number
}

/**
 * A file that is no export. The message says what is wanted, and quotes nothing of the file: it goes into the log,
 * and the file may be any file.
 */
export class LayoutError extends Error {}

/** In the order in which they are looked for: a comma may be part of a number. */
const separators = ['\t', ';', ','] as const
type Separator = (typeof separators)[number]

const mt5Columns = [
  '<DATE>',
  '<TIME>',
  '<OPEN>',
  '<HIGH>',
  '<LOW>',
  '<CLOSE>',
  '<TICKVOL>',
  '<VOL>',
  '<SPREAD>',
]
const needed = new Set(['<DATE>', '<OPEN>', '<HIGH>', '<LOW>', '<CLOSE>', '<TICKVOL>'])
const wanted = mt5Columns.join(' ')

export function layoutOf(firstLine: string, resolution: Resolution): Layout {
  const separator = separators.find((each) => firstLine.includes(each))
  if (separator === undefined) throw noSeparator(firstLine)
  const cells = firstLine.split(separator).map((cell) => cell.trim())
  // A separator at the end of a line begins no column.
  if (cells.at(-1) === '') cells.pop()
  if (cells[0]?.startsWith('<')) return headerLayout(cells, separator, resolution)
  // Tools write a header of words above the lines of a terminal.
  if (/^[a-z]/i.test(cells[0] ?? '')) return wordsLayout(cells, separator, resolution)
  return mt4Layout(firstLine, cells, separator)
}

function noSeparator(firstLine: string): LayoutError {
  const isHeader = firstLine.trimStart().startsWith('<')
  const odd = isHeader ? ['|', ' '].find((each) => firstLine.includes(each)) : undefined
  return new LayoutError(
    odd === undefined
      ? `The first line has ${firstLine.length} characters; ${allWanted}`
      : `The columns are separated by "${odd}"; an MT5 export separates them by tabs.`,
  )
}

const allWanted =
  `wanted is MT5's header (${wanted}, separated by tabs) or MT4's lines ` +
  '(YYYY.MM.DD,HH:MM,open,high,low,close,volume).'

function headerLayout(names: readonly string[], separator: Separator, resolution: Resolution): Layout {
  const found = names.map((name) => name.toUpperCase())
  const missing = mt5Columns.filter((name) => needed.has(name) && !found.includes(name))
  if (missing.length > 0)
    throw new LayoutError(`Column ${missing.join(', ')} is missing; an MT5 export has ${wanted}.`)
  const hasTime = found.includes('<TIME>')
  if (!hasTime && !daily.has(resolution))
    throw new LayoutError(`Column <TIME> is missing, which bars of resolution ${resolution} need.`)
  const expected = mt5Columns.filter((name) => found.includes(name))
  if (expected.join() !== found.join())
    throw new LayoutError(
      `The ${found.length} columns are not those of an MT5 export: ${wanted}, in this order.`,
    )
  const tickVolume = found.indexOf('<TICKVOL>')
  const columns = { columnsMin: tickVolume + 1, columnsMax: found.length }
  return { separator, hasHeader: true, hasTime, isTimeInDate: false, ...columns }
}

const daily: ReadonlySet<Resolution> = new Set(['1D', '1W', '1M'])

/** Columns of MT5 by the words that tools write for them. */
const words: Readonly<Record<string, string>> = {
  VOLUME: 'TICKVOL',
  TICKVOLUME: 'TICKVOL',
  REALVOLUME: 'VOL',
  DATETIME: 'DATE',
  TIMESTAMP: 'DATE',
}

function wordsLayout(names: readonly string[], separator: Separator, resolution: Resolution): Layout {
  const known = names.map((name) => {
    const word = name.replaceAll(/[^a-z]/gi, '').toUpperCase()
    return `<${words[word] ?? word}>`
  })
  // The only volume is that of ticks.
  const found = known.includes('<TICKVOL>')
    ? known
    : known.map((name) => (name === '<VOL>' ? '<TICKVOL>' : name))
  const isTimeInDate = !found.includes('<TIME>') && !daily.has(resolution)
  const layout = headerLayout(isTimeInDate ? found.toSpliced(1, 0, '<TIME>') : found, separator, resolution)
  if (!isTimeInDate) return layout
  return { ...layout, isTimeInDate, columnsMin: layout.columnsMin - 1, columnsMax: layout.columnsMax - 1 }
}

function mt4Layout(firstLine: string, cells: readonly string[], separator: Separator): Layout {
  const layout = { separator, hasHeader: false, hasTime: true }
  const [first = ''] = cells
  if (cells.length === 7 && /^\d{4}\.\d{2}\.\d{2}$/.test(first))
    return { ...layout, isTimeInDate: false, columnsMin: 7, columnsMax: 7 }
  if (cells.length === 6 && /^\d{4}\.\d{2}\.\d{2} \d{2}:\d{2}/.test(first))
    return { ...layout, isTimeInDate: true, columnsMin: 6, columnsMax: 6 }
  if (cells.length > 7 && /^\d{4}\.\d{2}\.\d{2}[, ]\d{2}:\d{2}(:\d{2})?(,\d+){9}/.test(firstLine))
    throw new LayoutError(
      `The first line has ${cells.length} columns, as with decimal commas; prices need a decimal point.`,
    )
  if (cells.length > 7 && /^\d{4}\.\d{2}\.\d{2},\d{2}:\d{2}(:\d{2})?,[\d.,-]+$/.test(firstLine))
    throw new LayoutError(
      `The first line has ${cells.length} columns, as with thousands separators; prices need plain numbers, and MT4's lines have 7 columns.`,
    )
  throw new LayoutError(`The first line has ${firstLine.length} characters; ${allWanted}`)
}
