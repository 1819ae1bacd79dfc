import { type Bars, barCount, barsOf, noBars, timeAt, toList } from '../core/bars/bar.ts'
import { barTimeMax } from '../core/bars/bar-rules.ts'
import { type Series, seriesId } from '../core/bars/series.ts'
import { foldMinutes, runningOpen } from '../core/charts/running.ts'
import { type FeedSeconds, feedSeconds } from '../core/clocks/feed-clock.ts'
import { type Reader, sharedReader } from '../core/fair-queue.ts'
import type { CompoundKey } from '../core/feeds/compound-key.ts'
import { barEnd, resolutions } from '../core/feeds/resolution.ts'
import type { Bus, BusEvent } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { History } from './history.ts'

/** Closed bars that are kept of a series: the minutes of a quarter of an hour, and the five of a poll. */
export const newestCount = 21
/** The running bar, and the one before it, which a client shows beside it: its closed one may be late. */
const runningCount = 2
/** Maximum series that are kept, about 10 kB each; the one that was read longest ago is forgotten first. */
export const newestSeriesMax = 4_096
/** Age at which bars are read again, also without an event: no event comes while the bus is unavailable. */
const newestAgeMsMax = 60_000

export interface Newest {
  /** Ascending, at most `newestCount`; fewer are all that there are. */
  readonly closed: Bars
  /** Bars after the closed ones, folded from closed minutes; the last one is running. Empty for minutes themselves. */
  readonly running: Bars
}

/** The newest bars of the series that charts ask for. They stay in memory for a minute, or until an event of the bus changes them. */
export interface NewestBars {
  /** `hasMinutes`: the feed has minutes, from which running bars are folded. */
  of(series: Series, hasMinutes: boolean, reader: Reader): Promise<Newest>
  close(): void
}

interface Kept {
  newest?: Newest
  /** The last minute that is folded. */
  foldedTo?: FeedSeconds | undefined
  /** Where in its duration the newest closed bar opened: the running bar opens there too. */
  phase?: number | undefined
  /** Number of events that changed the series, now and when `newest` was read. */
  changes: number
  readAt: number
  readMs: number
  /** The last read that began; one of one key serves all its polls that come before it ends. */
  reading?: Reading | undefined
}

interface Reading {
  readonly key: string
  readonly changes: number
  readonly readers: Set<Reader>
  readonly newest: Promise<Newest>
}

export function createNewestBars(
  history: History,
  bus: Pick<Bus, 'follow'>,
  clock: Pick<Clock, 'monotonicMs'>,
): NewestBars {
  const kept = new Map<string, Kept>()
  const idsOf = (symbol: CompoundKey) => resolutions.map((resolution) => seriesId({ symbol, resolution }))

  const deliver = (event: BusEvent): void => {
    if (event.type === 'revised') for (const id of idsOf(event.series.symbol)) kept.delete(id)
    if (event.type !== 'bars' || kept.size === 0) return
    for (const id of event.bars.flatMap(({ symbol }) => idsOf(symbol))) {
      const own = kept.get(id)
      if (own) own.changes++
    }
  }
  const stop = bus.follow({
    deliver: ({ event }) => deliver(event),
    lost(feed) {
      for (const id of kept.keys()) if (id.includes(` ${feed}:`)) kept.delete(id)
    },
  })

  /** What is kept of the series, to be filled: an event that comes before that still counts. */
  const keptOf = (series: Series): Kept => {
    const id = seriesId(series)
    const own = kept.get(id) ?? { changes: 0, readAt: -1, readMs: 0 }
    kept.delete(id)
    kept.set(id, own)
    const [oldest] = kept.keys()
    if (kept.size > newestSeriesMax && oldest !== undefined) kept.delete(oldest)
    return own
  }

  async function read(series: Series, hasMinutes: boolean, own: Kept, reader: Reader): Promise<Newest> {
    const readMs = clock.monotonicMs()
    const before = { ...own }
    const closed = await history.countback(series, newestCount, undefined, reader)
    const found =
      hasMinutes && series.resolution !== '1'
        ? await fold(history, series, closed, before, reader)
        : { newest: { closed, running: noBars } }
    Object.assign(own, found, { readAt: before.changes, readMs })
    return found.newest
  }

  function begin(series: Series, hasMinutes: boolean, own: Kept, reader: Reader): Reading {
    const readers = new Set([reader])
    const newest = read(series, hasMinutes, own, sharedReader(readers))
    const reading = { key: reader.key, changes: own.changes, readers, newest }
    own.reading = reading
    const end = (): void => {
      if (own.reading === reading) own.reading = undefined
    }
    newest.then(end, end)
    return reading
  }

  return {
    async of(series, hasMinutes, reader) {
      const own = keptOf(series)
      const isFresh = own.readAt === own.changes && clock.monotonicMs() - own.readMs < newestAgeMsMax
      if (own.newest && isFresh) return own.newest
      const { reading } = own
      const isShared = reading?.key === reader.key && reading.changes === own.changes
      const { readers, newest } = isShared ? reading : begin(series, hasMinutes, own, reader)
      readers.add(reader)
      return newest
    },
    close: stop,
  }
}

/** Folds the minutes that came since the last call, or those of the running bar and of the one before it. */
async function fold(history: History, series: Series, closed: Bars, before: Kept, reader: Reader) {
  const minutes: Series = { ...series, resolution: '1' }
  const last = barCount(closed) > 0 ? timeAt(closed, barCount(closed) - 1) : undefined
  const closedUntil = last === undefined ? -Infinity : barEnd(last, series.resolution)
  const openOf = (minute: FeedSeconds): FeedSeconds => runningOpen(minute, series.resolution, last)
  /** The open of the bar of the newest minute at the time or before. */
  const openUntil = async (time: FeedSeconds | undefined): Promise<FeedSeconds | undefined> => {
    const found = await history.countback(minutes, 1, time, reader)
    return barCount(found) === 0 ? undefined : openOf(timeAt(found, 0))
  }
  const phase = last && last - runningOpen(last, series.resolution, undefined)
  const isKnown = before.foldedTo !== undefined && before.phase === phase
  let folded = isKnown && before.newest ? toList(before.newest.running) : []
  let foldedTo = isKnown ? before.foldedTo : undefined
  if (foldedTo === undefined) {
    const open = await openUntil(undefined)
    if (open === undefined) return { newest: { closed, running: noBars }, foldedTo, phase }
    const shownFrom = (await openUntil(feedSeconds(open - 1))) ?? open
    foldedTo = feedSeconds(Math.max(closedUntil, shownFrom) - 1)
  }
  for await (const slice of history.range(
    minutes,
    feedSeconds(foldedTo + 1),
    feedSeconds(barTimeMax),
    reader,
  )) {
    folded = foldMinutes(folded, slice, openOf)
    foldedTo = timeAt(slice, barCount(slice) - 1)
  }
  const running = barsOf(folded.filter(({ time }) => time >= closedUntil).slice(-runningCount))
  return { newest: { closed, running }, foldedTo, phase }
}
