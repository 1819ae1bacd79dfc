import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'

const source = new URL('../../data/BTCUSD_M1_201311.csv', import.meta.url)
const weekSeconds = 7 * 86_400

export interface Repeated {
  readonly bars: number
  /** Open times of the first and the last bar. */
  readonly first: number
  readonly last: number
}

/**
 * Writes an M1 export of at least `barsMin` real bars: repetitions of the week in test/data, each a week later than the
 * one before. `order` sorts the weeks; default: ascending.
 */
export function writeRepeated(
  path: string,
  barsMin: number,
  order: (weeks: readonly number[]) => readonly number[] = (weeks) => weeks,
): Repeated {
  const [header = '', ...lines] = readFileSync(source, 'utf8').trimEnd().split('\r\n')
  const start = Date.UTC(2013, 10, 25) / 1000
  const weeks = Array.from({ length: Math.ceil(barsMin / lines.length) }, (_, week) => week)
  const file = openSync(path, 'w')
  writeSync(file, `${header}\r\n`)
  for (const week of order(weeks)) {
    const dates = new Map<string, string>()
    const moved = lines.map((line) => {
      const date = line.slice(0, 10)
      const later = dates.get(date) ?? shifted(date, week)
      dates.set(date, later)
      return `${later}${line.slice(10)}\r\n`
    })
    writeSync(file, moved.join(''))
  }
  closeSync(file)
  const [date = '', time = ''] = (lines.at(-1) ?? '').split('\t')
  const last = Date.parse(`${date.replaceAll('.', '-')}T${time}Z`) / 1000
  return { bars: weeks.length * lines.length, first: start, last: last + (weeks.length - 1) * weekSeconds }
}

function shifted(date: string, weeks: number): string {
  const day = Date.parse(`${date.replaceAll('.', '-')}T00:00:00Z`) / 1000 + weeks * weekSeconds
  return new Date(day * 1000).toISOString().slice(0, 10).replaceAll('-', '.')
}
