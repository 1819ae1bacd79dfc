import { bucketOpen } from '../../../core/bars/derive.ts'
import { type FeedSeconds, feedNow, feedSeconds, fixedOffset } from '../../../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Source, SourceListener } from '../source.ts'
import { createMarket, type Market } from './market.ts'

/** The tick that closes a minute comes so long after it. */
const tickDelayMs = 150
const minuteMs = 60_000
/** What passed during a longer sleep (a laptop's lid) is not reportedTo minute by minute. */
const catchUpSeconds = 6 * 3_600

/** A deterministic market: the same seed tells the same story on every machine, at every start, for every span. */
export function createSimulator(definition: FeedDefinition, seed: number, clock: Clock): Source {
  const offset = fixedOffset(definition.clock) ?? 0
  const market = createMarket(definition, seed, offset)
  const now = (): FeedSeconds => feedNow(clock.utcMs(), offset, undefined) as FeedSeconds

  return {
    terminal: `simulator seed ${seed}`,
    capabilities: { rereadable: true, reads: 'pieces' },
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
        // After a long sleep the minutes in between are history: the session reads them again.
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

/** Tells what closed after `before` and until `at`; nothing was missed since `watchedFrom`. */
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
