import { later } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import { ageSeconds, type FeedLiveness } from '../../core/feeds/feed-status.ts'
import { durationSeconds, finestFirst } from '../../core/feeds/resolution.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { FeedStates } from '../feed/feed-state.ts'
import type { OpenSessions } from '../session/open-sessions.ts'

const boardReadMs = 10_000

export interface FeedGaugesDeps {
  readonly metrics: Metrics
  readonly registry: Pick<FollowedRegistry, 'view' | 'loaded'>
  readonly board: Pick<FeedBoard, 'read'>
  readonly sessions: Pick<OpenSessions, 'leaderCount'>
  readonly states: Pick<FeedStates, 'of'>
  readonly clock: Clock
}

/**
 * Exports gauges of every feed, also of those without a session here. The feed board has the receipts of all ingests.
 * So alerts use the sum of the sessions and the minimum of the ages. Returns the function that stops the reads.
 */
export function exportFeedGauges(deps: FeedGaugesDeps): () => void {
  const { metrics, registry, board, sessions, states, clock } = deps
  let liveness: ReadonlyMap<FeedKey, FeedLiveness> = new Map()
  const feeds = (): readonly FeedDefinition[] => (registry.loaded ? registry.view().feeds() : [])
  const gauge = (name: string, help: string, value: (feed: FeedDefinition) => number | undefined): void => {
    metrics.gauge(name, `For each feed: ${help}`, ['feed'], (metric) => {
      metric.reset()
      for (const definition of feeds()) {
        const now = value(definition)
        if (now !== undefined) metric.set({ feed: definition.key }, now)
      }
    })
  }
  gauge('fxd_ingest_active_sessions', 'live sessions here, without standbys', ({ key }) =>
    sessions.leaderCount(key),
  )
  gauge(
    'fxd_ingest_bar_age_seconds',
    'time since any ingest last received a live bar; absent until the first one',
    ({ key }) => ageSeconds(clock.utcMs(), later(liveness.get(key)?.receivedAt, states.of(key)?.receivedAt)),
  )
  gauge('fxd_ingest_finest_bar_seconds', 'length of its shortest bars; absent for months', finestSeconds)

  const read = (): void => {
    const keys = feeds().map(({ key }) => key)
    board.read(keys).then(
      (found) => void (liveness = found),
      // The next read replaces the last known receipts. Notes to the board log its outage.
      () => undefined,
    )
  }
  read()
  return clock.every(boardReadMs, read)
}

function finestSeconds({ resolutions }: FeedDefinition): number | undefined {
  const [finest] = resolutions.toSorted(finestFirst)
  return finest === undefined || finest === '1M' ? undefined : durationSeconds[finest]
}
