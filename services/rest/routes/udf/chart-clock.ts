import { type TrueTime, trueTime } from '../../../core/charts/true-time.ts'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { Failure } from '../../../core/failure.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { knownOffset } from '../../../core/registry/clock-history.ts'
import type { RegistryView } from '../../../core/registry/registry.ts'

/** Times of a feed in true UTC, by the history of its clock. Throws a `Failure` while the clock is unknown. */
export function chartClock(feed: FeedDefinition, resolution: Resolution, view: RegistryView): TrueTime {
  const offsetSeconds = knownOffset(feed, view)
  if (offsetSeconds === undefined)
    throw new Failure(
      'SERVER_ERROR',
      `The clock of the feed ${feed.key} is not measured yet; try again later.`,
    )
  const history = view.clocksOf(feed.key)
  // A definition is known a moment before the reading that it adds.
  return trueTime(history.length > 0 ? history : [{ offsetSeconds, since: utcMs(0) }], resolution)
}
