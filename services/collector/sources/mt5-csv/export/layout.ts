import type { Resolution } from '../../../../core/feeds/resolution.ts'

/** The line format of one export. */
export interface Layout {
  readonly separator: '\t' | ','
  /** False for MT4's comma form: its first line is a bar. */
  readonly hasHeader: boolean
  /** Exports of 1D and longer have no time column. */
  readonly hasTime: boolean
  /** Columns of a line: `<VOL>` and `<SPREAD>` are optional in MT5 exports and absent in MT4 ones. */
  readonly columnsMin: number
  readonly columnsMax: number
}

/**
 * A file that is no export. The message says what is wanted, and quotes nothing of the file: it goes into the log,
 * and the file may be any file.
 */
export class LayoutError extends Error {}

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

/** Recognises the layout from the first line of a file. */
export function layoutOf(firstLine: string, resolution: Resolution): Layout {
  return firstLine.trimStart().startsWith('<') ? mt5Layout(firstLine, resolution) : mt4Layout(firstLine)
}

function mt5Layout(header: string, resolution: Resolution): Layout {
  const found = header.split('\t').map((name) => name.trim().toUpperCase())
  if (found.length === 1) {
    const separator = [';', ',', ' '].find((each) => header.includes(each))
    throw new LayoutError(
      separator === undefined
        ? `The header has ${header.length} characters and no tab; an MT5 export has ${wanted}, separated by tabs.`
        : `The columns are separated by "${separator}"; an MT5 export separates them by tabs.`,
    )
  }
  const missing = mt5Columns.filter((name) => needed.has(name) && !found.includes(name))
  if (missing.length > 0)
    throw new LayoutError(`Column ${missing.join(', ')} is missing; an MT5 export has ${wanted}.`)
  const hasTime = found.includes('<TIME>')
  if (!hasTime && !daily.has(resolution)) {
    throw new LayoutError(`Column <TIME> is missing, which bars of resolution ${resolution} need.`)
  }
  const expected = mt5Columns.filter((name) => found.includes(name))
  if (expected.join() !== found.join()) {
    throw new LayoutError(
      `The ${found.length} columns are not those of an MT5 export: ${wanted}, in this order.`,
    )
  }
  const tickVolume = found.indexOf('<TICKVOL>')
  return { separator: '\t', hasHeader: true, hasTime, columnsMin: tickVolume + 1, columnsMax: found.length }
}

const daily: ReadonlySet<Resolution> = new Set(['1D', '1W', '1M'])

function mt4Layout(firstLine: string): Layout {
  const cells = firstLine.split(',')
  if (cells.length === 7 && /^\d{4}\.\d{2}\.\d{2}$/.test(cells[0]?.trim() ?? '')) {
    return { separator: ',', hasHeader: false, hasTime: true, columnsMin: 7, columnsMax: 7 }
  }
  if (cells.length > 7 && /^\d{4}\.\d{2}\.\d{2},\d{2}:\d{2}(,\d+){9}/.test(firstLine)) {
    throw new LayoutError(
      `The first line has ${cells.length} columns, as with decimal commas; prices need a decimal point.`,
    )
  }
  throw new LayoutError(
    `The first line has ${firstLine.length} characters; wanted is MT5's header (${wanted}, separated by tabs) or MT4's lines ` +
      '(YYYY.MM.DD,HH:MM,open,high,low,close,volume).',
  )
}
