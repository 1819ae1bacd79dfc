import { type Bars, barCount, countUntil, sliceBars } from '../../core/bars/bar.ts'
import { sameRatio } from '../../core/bars/readjustment.ts'
import { compareWithStored } from '../../core/bars/revision.ts'
import type { Lane, Series, SeriesBars } from '../../core/bars/series.ts'
import type { Span } from '../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { BarStore, ReadAs } from '../../ports/bars.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import { type Waiting, waitForStore } from './wait-for-store.ts'

export interface Counts {
  readonly accepted: number
  readonly revised: number
  readonly unchanged: number
  /** The most closes of one series that differ from the stored ones by one ratio. */
  readonly sameRatio: number
}

export interface Changed extends Span {
  readonly series: Series
}

export interface HistoryOutcome extends Counts {
  /** Ranges in which readers may have returned other values before. */
  readonly changed: readonly Changed[]
}

export const noCounts: Counts = { accepted: 0, revised: 0, unchanged: 0, sameRatio: 0 }
export const addCounts = (a: Counts, b: Counts): Counts => ({
  accepted: a.accepted + b.accepted,
  revised: a.revised + b.revised,
  unchanged: a.unchanged + b.unchanged,
  sameRatio: Math.max(a.sameRatio, b.sameRatio),
})

/** Maximum revision of a derived bar (1, 2, …). A terminal's reading has the milliseconds since 1970. */
const derivedRevisionMax = 1_000_000
/** Minimum bars per read page. Pages keep a batch that is scattered over years from reading all between. */
const pageBarsMin = 1_000
const seriesAtOnce = 8

/** The reads of ingest for one lane of a feed. These take turns, so a flood of one cannot end the sessions of others. */
export const ingestReads = (feed: FeedKey, lane: Lane): ReadAs => ({
  lane: 'backfill',
  reader: serviceReader(`ingest ${lane} ${feed}`),
})

export interface HistoryDeps extends Waiting {
  readonly store: BarStore
  readonly lane: Lane
  /** Announces changed ranges. A failed write may store bars too, and the batch that repeats it finds them unchanged. */
  readonly announce: (changed: readonly Changed[]) => Promise<void>
}

/**
 * Writes the bars of each series that differ from the stored bars, and waits while the store is unavailable. Resolves
 * once they are readable.
 * `newestBefore`: the newest known time of a series before this batch; later bars are written without a comparison.
 */
export async function storeHistory(
  batch: readonly GoodSeries[],
  newestBefore: (id: string) => FeedSeconds | undefined,
  deps: HistoryDeps,
): Promise<HistoryOutcome> {
  const { store, lane, announce, signal } = deps
  let counts = noCounts
  const writes: SeriesBars[] = []
  for (let i = 0; i < batch.length; i += seriesAtOnce) {
    const some = batch.slice(i, i + seriesAtOnce)
    const pieces = await Promise.all(some.map((each) => compareSeries(each, newestBefore(each.id), deps)))
    for (const { series, keep, ...counted } of pieces.flat()) {
      counts = addCounts(counts, counted)
      if (barCount(keep) > 0) writes.push({ series, bars: keep })
    }
  }
  const changed = writes.map(({ series, bars }) => ({ series, ...ends(bars) }))
  if (writes.length > 0)
    await waitForStore(() => store.write(writes, lane, { signal }), deps).catch(async (cause: unknown) => {
      await announce(changed)
      throw cause
    })
  return { ...counts, changed }
}

interface Piece extends Counts {
  readonly series: Series
  readonly keep: Bars
}

async function compareSeries(
  { series, scale, bars }: GoodSeries,
  newest: FeedSeconds | undefined,
  { store, lane, ...waiting }: HistoryDeps,
): Promise<Piece[]> {
  const count = barCount(bars)
  const { to } = ends(bars)
  const pieces: Piece[] = []
  for (let start = 0; start < count; ) {
    const from = feedSeconds(bars.time[start] as number)
    if (newest === undefined || from > newest) {
      pieces.push({ ...noCounts, series, keep: sliceBars(bars, start, count), accepted: count - start })
      break
    }
    const page = Math.max(pageBarsMin, 2 * (count - start))
    const take = { count: page, end: 'oldest' } as const
    const query = { series, from, to, take, ...ingestReads(series.feed, lane) }
    const stored = await waitForStore(() => store.read(query), waiting)
    const end = barCount(stored) < page ? count : countUntil(bars, stored.time[page - 1] as number, start)
    const incoming = sliceBars(bars, start, end)
    raiseDerived(incoming, stored)
    pieces.push({
      series,
      sameRatio: sameRatio(stored, incoming, scale),
      ...compareWithStored(stored, incoming),
    })
    start = end
  }
  return pieces
}

/** The open times of the first and the last bar; both are included. */
export const ends = (bars: Bars): Span => ({
  from: feedSeconds(bars.time[0] as number),
  to: feedSeconds(bars.time[barCount(bars) - 1] as number),
})

/** Raises revisions of derived bars above stored derived ones, never to those of readings: each run counts from 1. */
function raiseDerived(incoming: Bars, stored: Bars): void {
  for (let i = 0, j = 0; i < barCount(incoming); i++) {
    const revision = incoming.revision[i] as number
    if (revision > derivedRevisionMax) return
    while (j < barCount(stored) && (stored.time[j] as number) < (incoming.time[i] as number)) j++
    const other = stored.revision[j]
    if (stored.time[j] !== incoming.time[i] || other === undefined) continue
    if (other >= revision && other < derivedRevisionMax) incoming.revision[i] = other + 1
  }
}
