import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Bars } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { BarQuery } from '../../../ports/bars.ts'
import {
  bytesPerRow,
  fieldsPerRow,
  type PackedRows,
  revisionField,
  timeField,
  unpackRows,
} from './packed-rows.ts'

/** Maximum rows of one statement; more gain nothing, fewer cost a call per row. */
const rowsPerStatement = 50
/** Maximum rows that SQLite returns in one blob; bounds the second copy that a long read keeps. */
const rowsPerPage = 16_384

const upsert = (rows: number): string => `
  INSERT INTO bar (series, time, revision, body) VALUES ${Array(rows).fill('(?, ?, ?, ?)').join(', ')}
  ON CONFLICT DO UPDATE SET revision = excluded.revision, body = excluded.body
  WHERE excluded.revision > revision`

const parametersPerRow = 4

/** Upserts rows; call it inside a transaction. */
export function barUpserts(db: DatabaseSync): (rows: PackedRows) => void {
  const many = db.prepare(upsert(rowsPerStatement))
  const one = db.prepare(upsert(1))
  const findSeries = seriesFinder(db)
  const addSeries = seriesAdder(db)

  const write = (series: number, rows: PackedRows, start: number, end: number): void => {
    const bodies = new Uint8Array(rows.fields.buffer)
    for (let row = start; row < end; ) {
      const taken = end - row >= rowsPerStatement ? rowsPerStatement : 1
      const parameters = new Array<number | Uint8Array>(taken * parametersPerRow)
      for (let i = 0; i < taken; i++, row++) {
        const at = i * parametersPerRow
        parameters[at] = series
        parameters[at + 1] = rows.fields[row * fieldsPerRow + timeField] as number
        parameters[at + 2] = rows.fields[row * fieldsPerRow + revisionField] as number
        parameters[at + 3] = bodies.subarray(row * bytesPerRow, (row + 1) * bytesPerRow)
      }
      ;(taken === 1 ? one : many).run(...parameters)
    }
  }

  return (rows) => {
    let start = 0
    for (const { series, count } of rows.parts) {
      write(findSeries(series) ?? addSeries(series), rows, start, start + count)
      start += count
    }
  }
}

/** Hides all bars of a feed in one step; `purgedSweep` then frees their rows in small steps. */
export function barPurge(db: DatabaseSync): (feed: FeedKey) => void {
  const mark = db.prepare('INSERT INTO purged SELECT id FROM series WHERE feed = ?')
  const forget = db.prepare('DELETE FROM series WHERE feed = ?')
  return (feed) => {
    mark.run(feed)
    forget.run(feed)
  }
}

/** Frees at most `rowsMax` rows of purged series; returns `false` when none are left. */
export function purgedSweep(db: DatabaseSync): (rowsMax: number) => boolean {
  const next = db.prepare('SELECT series FROM purged LIMIT 1')
  const free = db.prepare(
    'DELETE FROM bar WHERE series = ?1 AND time IN (SELECT time FROM bar WHERE series = ?1 LIMIT ?2)',
  )
  const done = db.prepare('DELETE FROM purged WHERE series = ?')
  return (rowsMax) => {
    const series = next.get()?.['series']
    if (series === undefined) return false
    if (Number(free.run(series, rowsMax).changes) < rowsMax) done.run(series)
    return true
  }
}

/** Reads a range as pages of packed rows. */
export function barReads(db: DatabaseSync): (query: BarQuery) => Bars {
  const findSeries = seriesFinder(db)
  const ascending = pageStatement(db, 'ASC')
  const descending = pageStatement(db, 'DESC')
  const readPages = (series: number, query: BarQuery): Float64Array<ArrayBuffer>[] => {
    const newest = query.take?.end === 'newest'
    let { from, to } = query as { from: number; to: number }
    let left = query.take?.count ?? Number.POSITIVE_INFINITY
    const pages: Float64Array<ArrayBuffer>[] = []
    while (left > 0) {
      const wanted = Math.min(left, rowsPerPage)
      const page = fieldsOf((newest ? descending : ascending).get(series, from, to, wanted))
      if (page.length === 0) break
      pages.push(page)
      left -= page.length / fieldsPerRow
      if (page.length < wanted * fieldsPerRow) break
      const last = page[page.length - fieldsPerRow + timeField] as number
      if (newest) to = last - 1
      else from = last + 1
    }
    return pages
  }
  return (query) => {
    const series = findSeries(query.series)
    const pages = series === undefined ? [] : readPages(series, query)
    const bars = unpackRows(pages, query.take?.end === 'newest')
    for (const page of pages) free(page)
    return bars
  }
}

/** Frees the memory now: a thread with many reads keeps tens of megabytes of garbage before it collects them. */
const free = ({ buffer }: Float64Array<ArrayBuffer>): void => void buffer.transfer(0)

// Text aggregation copies bytes unchanged in a UTF-8 database, so the joined bodies are one blob.
const pageStatement = (db: DatabaseSync, order: 'ASC' | 'DESC'): StatementSync =>
  db.prepare(`
    SELECT CAST(group_concat(body, '') AS BLOB) AS bodies FROM (
      SELECT body FROM bar WHERE series = ? AND time BETWEEN ? AND ? ORDER BY time ${order} LIMIT ?
    )`)

function fieldsOf(row: Record<string, unknown> | undefined): Float64Array<ArrayBuffer> {
  const bodies = row?.['bodies']
  if (!(bodies instanceof Uint8Array && bodies.buffer instanceof ArrayBuffer)) return new Float64Array(0)
  if (bodies.byteLength % bytesPerRow !== 0)
    throw new Error(`The file contains bars that do not have ${bytesPerRow} bytes.`)
  const count = bodies.byteLength / Float64Array.BYTES_PER_ELEMENT
  if (bodies.byteOffset % Float64Array.BYTES_PER_ELEMENT !== 0)
    return new Float64Array(bodies.slice().buffer, 0, count)
  return new Float64Array(bodies.buffer, bodies.byteOffset, count)
}

/** Open time of the newest bar per series: one seek of the primary key each, never a scan. */
export function newestTimes(
  db: DatabaseSync,
): (feed: FeedKey) => readonly { symbol: string; resolution: string; time: number }[] {
  const statement = db.prepare(`
    SELECT symbol, resolution, (SELECT max(time) FROM bar WHERE bar.series = series.id) AS time
    FROM series WHERE feed = ?`)
  return (feed) =>
    statement
      .all(feed)
      .flatMap(({ symbol, resolution, time }) =>
        time === null ? [] : [{ symbol: String(symbol), resolution: String(resolution), time: Number(time) }],
      )
}

/** First and last time inside each half-open span: two numbers a span, `NaN` for a span without bars. */
export function spanBounds(db: DatabaseSync): (series: Series, spans: Float64Array) => Float64Array {
  const findSeries = seriesFinder(db)
  const bounds = db.prepare(`
    SELECT (SELECT min(time) FROM bar WHERE series = ?1 AND time >= ?2 AND time < ?3) AS first,
           (SELECT max(time) FROM bar WHERE series = ?1 AND time >= ?2 AND time < ?3) AS last`)
  return (series, spans) => {
    const id = findSeries(series)
    const found = new Float64Array(spans.length).fill(Number.NaN)
    if (id === undefined) return found
    for (let i = 0; i < spans.length; i += 2) {
      const row = bounds.get(id, spans[i] as number, spans[i + 1] as number)
      if (typeof row?.['first'] !== 'number') continue
      found[i] = row['first']
      found[i + 1] = Number(row['last'])
    }
    return found
  }
}

/** Looks the id up on each call (2 µs): a cached id could belong to a series purged since. */
function seriesFinder(db: DatabaseSync): (series: Series) => number | undefined {
  const find = db.prepare('SELECT id FROM series WHERE feed = ? AND symbol = ? AND resolution = ?')
  return ({ feed, symbol, resolution }) => find.get(feed, symbol, resolution)?.['id'] as number | undefined
}

function seriesAdder(db: DatabaseSync): (series: Series) => number {
  const add = db.prepare('INSERT INTO series (feed, symbol, resolution) VALUES (?, ?, ?) RETURNING id')
  return ({ feed, symbol, resolution }) => add.get(feed, symbol, resolution)?.['id'] as number
}
