import { type Bars, barCount, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { isClosed } from '../../core/bars/closed.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import { type FeedSeconds, feedSeconds, wasSetBack } from '../../core/clocks/feed-clock.ts'
import type { SourceBars, SourceSeries } from '../source.ts'
import type { CollectedSeries } from './collected-series.ts'

export const formingCheckMs = 1_000

/**
 * Returns the source's bars (ascending) that have closed. A last bar that is still forming is kept in its
 * series until it closes. A bar kept before is returned as soon as a later one has arrived. It is also returned with a bar
 * that shows that the clock was set back: by the new clock it would close only an hour later.
 */
export function takeClosed(
  series: CollectedSeries,
  { bars: given, derived = false, isClosed: isKnown = false }: Omit<SourceBars, keyof SourceSeries>,
  now: FeedSeconds | undefined,
): Bars {
  if (barCount(given) === 0) return given
  const newest = timeAt(given, barCount(given) - 1)
  const kept = series.forming?.bars
  const keptTime = kept && timeAt(kept, 0)
  if (kept && keptTime !== undefined && keptTime > newest && !wasSetBack(keptTime, newest)) return given
  series.forming = undefined
  // For one time, the later report counts.
  const isRead = keptTime !== undefined && given.time.includes(keptTime)
  const bars = kept && !isRead ? mergeBars(given, kept) : given
  if (isKnown || hasClosed(series, newest, now)) return bars
  const last = barCount(bars) - 1
  // A bar that only a later bar closes is sent together with that bar: ingest needs both. Ingest then rejects
  // the later bar as still forming.
  if (last > 0 && !hasClosed(series, timeAt(bars, last - 1), now)) return bars
  series.forming = { bars: sliceBars(bars, last, last + 1), derived }
  return sliceBars(bars, 0, last)
}

/** Removes the kept bars that have closed from these series and returns them. */
export function releaseClosed<S extends CollectedSeries>(
  all: Iterable<S>,
  now: FeedSeconds | undefined,
): { readonly series: S; readonly bars: Bars; readonly derived: boolean }[] {
  const released = []
  for (const series of all) {
    const { forming } = series
    if (!forming || !hasClosed(series, timeAt(forming.bars, 0), now)) continue
    series.forming = undefined
    released.push({ series, ...forming })
  }
  return released
}

function hasClosed(series: CollectedSeries, open: FeedSeconds, now: FeedSeconds | undefined): boolean {
  const { resolution, delaySeconds, sentUntil } = series
  const newest = Number.isFinite(sentUntil) ? feedSeconds(sentUntil) : undefined
  return isClosed(open, resolution, { now, newest, delaySeconds })
}
