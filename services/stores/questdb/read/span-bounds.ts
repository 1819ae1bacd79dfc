import { gridSeconds } from '../../../core/bars/bar-rules.ts'
import type { Series } from '../../../core/bars/series.ts'
import type { BarBounds, Span } from '../../../core/bars/window.ts'
import type { FeedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import { nameOf } from '../layout/tables.ts'
import { Fields } from '../pg/fields.ts'
import type { PgPool } from '../pg/pool.ts'
import { microsOf, secondsOf, timeMax, timeMin } from '../times.ts'

/** Maximum times at which bars may open for each of many close spans: to read them takes no longer than two statements. */
const timesPerSpan = 200

interface BoundsDeps {
  readonly pool: PgPool
  readonly reader: Reader | undefined
}

type Bounds = readonly (BarBounds | undefined)[]

/** First and last bar inside each span. Where many short spans are close, one statement reads all times of them. */
export async function spanBounds(
  table: string,
  series: Series,
  spans: readonly Span[],
  deps: BoundsDeps,
): Promise<Bounds> {
  const groups = closeSpans(spans, timesPerSpan * gridSeconds(series.resolution))
  const apart = groups.filter(({ length }) => length === 1).flat()
  const close = groups.filter(({ length }) => length > 1)
  const [ofApart, ofClose] = await Promise.all([
    endsOf(table, series, apart, deps),
    Promise.all(close.map((group) => boundsIn(table, series, group, deps))),
  ])
  const [nextApart, nextClose] = [ofApart.values(), ofClose.values()]
  return groups.flatMap(
    ({ length }): Bounds => (length === 1 ? [nextApart.next().value] : (nextClose.next().value ?? [])),
  )
}

/** Splits spans into groups of neighbours that ascend and have at most `seconds` each, the time before them included. */
export function closeSpans(spans: readonly Span[], seconds: number): Span[][] {
  const groups: Span[][] = []
  let last: Span | undefined
  for (const span of spans) {
    if (last !== undefined && follows(span, last, seconds)) groups.at(-1)?.push(span)
    else groups.push([span])
    last = span
  }
  return groups
}

function follows(span: Span, last: Span, seconds: number): boolean {
  const ascend = last.from <= last.to && last.to <= span.from && span.from <= span.to
  return ascend && last.to - last.from <= seconds && span.to - last.to <= seconds
}

const parametersOf = (series: Series, from: number, to: number): string[] => [
  nameOf(series),
  microsOf(Math.max(timeMin, from)),
  microsOf(Math.min(timeMax, to)),
]

/** Reads the times of all bars from the first span to the last one. */
async function boundsIn(
  table: string,
  series: Series,
  group: readonly Span[],
  { pool, reader }: BoundsDeps,
): Promise<Bounds> {
  const [first, last] = [group[0] as Span, group.at(-1) as Span]
  const sql =
    `SELECT ts::long FROM '${table}' WHERE sym = $1 ` +
    'AND ts >= $2::long::timestamp AND ts < $3::long::timestamp ORDER BY ts'
  const found = new Array<BarBounds | undefined>(group.length)
  const begin = () => {
    found.fill(undefined)
    let at = 0
    return (view: DataView, start: number): void => {
      const time = secondsOf(new Fields(view, start).long())
      while (at < group.length && (group[at] as Span).to <= time) at++
      if (at === group.length || (group[at] as Span).from > time) return
      found[at] = { first: found[at]?.first ?? time, last: time }
    }
  }
  await pool.read({ sql, parameterSets: [parametersOf(series, first.from, last.to)] }, begin, { reader })
  return found
}

async function endsOf(
  table: string,
  series: Series,
  spans: readonly Span[],
  { pool, reader }: BoundsDeps,
): Promise<Bounds> {
  if (spans.length === 0) return []
  const parameterSets = spans.map(({ from, to }) => parametersOf(series, from, to))
  const ends = async (order: 'ASC' | 'DESC'): Promise<readonly (FeedSeconds | undefined)[]> => {
    const sql =
      `SELECT ts::long FROM '${table}' WHERE sym = $1 ` +
      'AND ts >= $2::long::timestamp AND ts < $3::long::timestamp ' +
      `ORDER BY ts ${order} LIMIT 1`
    const found = new Array<FeedSeconds | undefined>(spans.length)
    const takeRow = (view: DataView, start: number, _: number, set: number): void => {
      found[set] = secondsOf(new Fields(view, start).long())
    }
    await pool.read({ sql, parameterSets }, () => takeRow, { reader })
    return found
  }
  const [firsts, lasts] = await Promise.all([ends('ASC'), ends('DESC')])
  return spans.map((_, i) => {
    const [first, last] = [firsts[i], lasts[i]]
    return first === undefined || last === undefined ? undefined : { first, last }
  })
}
