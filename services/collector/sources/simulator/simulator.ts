import { bucketOpen } from '../../../core/bars/derive.ts'
import { type FeedSeconds, feedNow, feedSeconds, fixedOffset } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Source, SourceListener } from '../../source.ts'
import { createMarket, type Market } from './market.ts'

/** Delay from the end of a minute to the tick that closes it. */
const tickDelayMs = 150
const minuteMs = 60_000
/** Maximum time reported minute by minute after a sleep (a closed laptop); earlier minutes are read as history. */
const catchUpSeconds = 6 * 3_600

/** A deterministic market: the same seed returns the same bars on every machine, at every start, for every span. */
export function createSimulator(definition: FeedDefinition, seed: number, clock: Clock): Source {
  const offset = fixedOffset(definition.clock) ?? 0
  const market = createMarket(definition, seed, offset)
  const now = (): FeedSeconds => feedNow(clock.utcMs(), offset, undefined) as FeedSeconds

  return {
    terminal: `simulator seed ${seed}`,
    capabilities: { rereadable: true, reads: 'pieces', live: true },
    async open(listener, signal) {
      listener.catalogue(
        definition.symbols.map((symbol) => ({ ...symbol, resolutions: market.resolutions })),
        { snapshot: true },
      )
      let watchedFrom = now()
      let reportedTo = watchedFrom
      listener.tick(reportedTo)
      everyMinute(clock, signal, () => {
        const at = now()
        // After a long sleep the skipped minutes are history: the session reads them.
        if (at - reportedTo > catchUpSeconds) watchedFrom = reportedTo = feedSeconds(at - catchUpSeconds)
        report(market, listener, watchedFrom, reportedTo, at)
        reportedTo = at
      })
    },
    async *read(series, span, signal) {
      for (const answer of market.read(series, span, now())) {
        if (signal.aborted) return
        yield answer
      }
    },
  }
}

/** Reports bars that closed after `before` and not after `at`; no bar was missed since `watchedFrom`. */
function report(
  market: Market,
  listener: SourceListener,
  watchedFrom: FeedSeconds,
  before: FeedSeconds,
  at: FeedSeconds,
): void {
  listener.tick(at)
  const batch = market.closedBetween(before, at)
  if (batch.length > 0) listener.closed(batch)
  for (const resolution of market.resolutions) {
    const to = bucketOpen(at, resolution)
    if (bucketOpen(before, resolution) < to)
      listener.watched(resolution, { from: bucketOpen(watchedFrom, resolution), to })
  }
}

function everyMinute(clock: Clock, signal: AbortSignal, run: () => void): void {
  if (signal.aborted) return
  const cancel = clock.after(minuteMs - (clock.utcMs() % minuteMs) + tickDelayMs, () => {
    signal.removeEventListener('abort', cancel)
    run()
    everyMinute(clock, signal, run)
  })
  signal.addEventListener('abort', cancel)
}
