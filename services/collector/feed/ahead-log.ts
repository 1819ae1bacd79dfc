import { type Bars, barCount, timeAt } from '../../core/bars/bar.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { LimitedLog } from '../../platform/log/limited-log.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedTime } from './feed-time.ts'

export type NoteAhead = (symbol: string, resolution: Resolution, bars: Bars) => void

/** Returns a function that logs bars ahead of the feed's clock, at most once a minute. */
export function aheadLog(log: Log, clock: Clock, time: FeedTime): NoteAhead {
  const limited = new LimitedLog(log, clock)
  return (symbol, resolution, bars) =>
    limited.write(
      'warn',
      { symbol, resolution, bars: barCount(bars), first: timeAt(bars, 0), now: time.now() },
      "bars ahead of the feed's clock are not sent; check spec.clock",
    )
}
