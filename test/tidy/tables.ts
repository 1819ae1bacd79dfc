import { textOf } from './tree.ts'

const withoutAsides = (cell: string): string => cell.replace(/\(.*?\)|:.*/g, '').replaceAll('`', '')

const words = (cell: string): string[] =>
  withoutAsides(cell)
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** The rows of the table in ARCHITECTURE.md with this header, as pairs of word lists. */
function table(head: string): [from: string[], to: string[]][] {
  const lines = textOf('ARCHITECTURE.md').split('\n')
  const start = lines.indexOf(head)
  if (start < 0) throw new Error(`ARCHITECTURE.md has no table that begins "${head}"; test/tidy reads it.`)
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) => {
    const [, from = '', to = ''] = line.split('|')
    return [words(from), words(to)]
  })
}

export const anywhere = 'everything in services'

const noAreas = new Set(['its own folder', 'its own client library', 'nothing of ours'])

/** Area → areas that it may import. */
export function allowedImports(): Map<string, readonly string[]> {
  const rows = table('| from | may import |')
  const areas = new Set(rows.flatMap(([from]) => from))
  const allowed = new Map<string, readonly string[]>()
  for (const [from, to] of rows) {
    const targets = to.filter((word) => !noAreas.has(word))
    const unknown = targets.find((word) => word !== anywhere && !areas.has(word))
    if (unknown !== undefined)
      throw new Error(`The import table of ARCHITECTURE.md allows "${unknown}", which has no row.`)
    for (const area of from) allowed.set(area, targets)
  }
  return allowed
}

/** Package → areas that may import it. */
export const packages = (): Map<string, readonly string[]> =>
  new Map(table('| package | folders |').map(([from, to]) => [from.join(), to]))

/** Kind of impure call → glob patterns of the files that may make it. */
export const impureCalls = (): Map<string, readonly string[]> =>
  new Map(table('| what | only in |').map(([from, to]) => [from.join(', '), to]))
