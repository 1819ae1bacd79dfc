import { type Bars, barCount, countUntil, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { closeToleranceSeconds, isClosed } from '../../core/bars/closed.ts'
import { mergeBars } from '../../core/bars/revision.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CollectedSeries } from './collected-series.ts'

/** Check interval for bars that were kept because they were still forming. */
export const formingCheckMs = 1_000

/**
 * Returns the source's bars (ascending) that have closed. A last bar that is still forming is kept in its
 * series until it closes. Bars ahead of the feed's clock are left out. A bar kept before is returned as soon as a later one has arrived.
 */
export function takeClosed(
  series: CollectedSeries,
  given: Bars,
  derived: boolean,
  now: FeedSeconds | undefined,
): Bars {
  const begun = withoutAhead(series, given, now)
  if (barCount(begun) === 0) return begun
  const newest = timeAt(begun, barCount(begun) - 1)
  const kept = series.forming?.bars
  const keptTime = kept && timeAt(kept, 0)
  if (kept && keptTime !== undefined && keptTime > newest) return begun
  series.forming = undefined
  // For one time, the later report counts.
  const isRead = keptTime !== undefined && begun.time.includes(keptTime)
  const bars = kept && !isRead ? mergeBars(begun, kept) : begun
  if (hasClosed(series, newest, now)) return bars
  const last = barCount(bars) - 1
  // A bar that only a later bar closes is sent together with that bar: ingest needs both. Ingest then rejects
  // the later bar as still forming.
  if (last > 0 && !hasClosed(series, timeAt(bars, last - 1), now)) return bars
  series.forming = { bars: sliceBars(bars, last, last + 1), derived }
  return sliceBars(bars, 0, last)
}

/**
 * Leaves out bars ahead of the clock. Ingest would reject them, a bar that is forming would count as closed, and all
 * minutes until their time would count as corrections.
 */
function withoutAhead(series: CollectedSeries, given: Bars, now: FeedSeconds | undefined): Bars {
  if (now === undefined) return given
  const count = countUntil(given, now + closeToleranceSeconds)
  if (count === barCount(given)) return given
  const ahead = sliceBars(given, count, barCount(given))
  series.holes.add(ahead)
  series.onAhead?.(ahead)
  return sliceBars(given, 0, count)
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
