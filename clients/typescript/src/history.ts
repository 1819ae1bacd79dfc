import { invalid } from './error.ts'
import type { Rest } from './rest.ts'
import { minute } from './time.ts'
import type { Bar, Resolution } from './types.ts'

const barsMax = 10_000
const day = 1_440 * minute
/** Seconds of a bar; the shortest month. */
export const durations: Readonly<Record<Resolution, number>> = {
  '1': minute,
  '5': 5 * minute,
  '10': 10 * minute,
  '15': 15 * minute,
  '30': 30 * minute,
  '60': 60 * minute,
  '120': 120 * minute,
  '240': 240 * minute,
  '1D': day,
  '1W': 7 * day,
  '1M': 28 * day,
}

/** A body of `/v1/history`. */
export interface Columns {
  readonly t?: readonly number[]
  readonly o: readonly number[]
  readonly h: readonly number[]
  readonly l: readonly number[]
  readonly c: readonly number[]
  readonly v: readonly number[]
}

interface PagesWanted {
  readonly symbol: string
  readonly resolution: Resolution
  /** First and last open time, both included; without `to`: the newest bar. */
  readonly from: number
  readonly to?: number | undefined
  /** For how long one request is retried, in milliseconds. */
  readonly patienceMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * All bars of a range, oldest first, at most 10,000 a page. The span of a page grows over times without bars. A page
 * that may be incomplete is asked for again with a shorter span.
 */
export async function* pages(rest: Rest, wanted: PagesWanted): AsyncGenerator<Bar[], void, undefined> {
  const { symbol, resolution, patienceMs, signal } = wanted
  const duration = durations[resolution]
  if (duration === undefined) throw invalid('resolution', String(resolution))
  const ask = async (query: object): Promise<Bar[]> =>
    toBars(await rest.getPatiently('history', { symbol, resolution, ...query }, patienceMs, signal))

  const shortest = duration * barsMax
  let span = shortest
  let { from, to } = wanted
  if (to === undefined || to - from >= span) to = (await ask({ countback: 1, to })).at(-1)?.time
  while (to !== undefined && from <= to) {
    const end = Math.min(to, from + span - duration)
    const isShort = span <= shortest
    const bars = await ask({ to: end, ...(isShort ? { from } : { countback: barsMax }) })
    const oldest = bars[0]?.time
    if (!isShort && bars.length === barsMax && oldest !== undefined && oldest > from) {
      span = Math.max(shortest, span / 4)
      continue
    }
    const page = bars.filter(({ time }) => time >= from)
    if (page.length > 0) yield page
    if (page.length < barsMax / 4) span *= 4
    from = end + 1
  }
}

export function toBars({ t = [], o, h, l, c, v }: Columns): Bar[] {
  return t.map((time, i) => ({
    time,
    open: o[i] as number,
    high: h[i] as number,
    low: l[i] as number,
    close: c[i] as number,
    volume: v[i] as number,
  }))
}
