import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { SessionDeps } from '../connection/session-deps.ts'
import type { RawSeriesId } from '../series/series-id.ts'
import type { Source } from '../source.ts'
import type { ClosedBars } from './closed-bars.ts'
import type { FeedTime } from './feed-time.ts'
import type { Readjustments } from './readjustments.ts'

/** What the parts of one session share that know the feed and its source. */
export interface CollectionDeps extends SessionDeps {
  readonly definition: FeedDefinition
  readonly source: Source
  readonly bars: ClosedBars
  readonly time: FeedTime
  readonly changed: Map<RawSeriesId, number>
  readonly readjustments: Readjustments
}
