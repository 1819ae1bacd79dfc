import { grantedFeeds } from '../../../access/grant.ts'
import { FeedStatuses } from '../../../bars/feed-statuses.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import { platformStatus } from '../../../core/feeds/feed-status.ts'
import { Late, within } from '../../../platform/within.ts'
import type { RestDeps } from '../../deps.ts'
import type { Route } from '../../route.ts'
import { statusSchema } from './schema.ts'

type StatusDeps = Pick<RestDeps, 'bars' | 'board' | 'clock'>

/** Store probe timeout, less than the request's deadline; after it /v1/status reports `degraded`. */
const probeMs = 1_000
/** Part of it for the feed board, so that a silent board leaves time to read the store. */
const boardMs = 500

/** Also answers while the stores are unavailable, from its last reads. */
export function createStatusRoute(deps: StatusDeps): Route<typeof statusSchema.query> {
  const { bars, board, clock } = deps
  const statuses = new FeedStatuses(deps)

  const readBoard = (feeds: readonly FeedKey[]): Promise<unknown> =>
    Promise.all([statuses.readBoard(feeds), board.ping()])
  /** Resolves to whether both stores answer, within the probe timeout. A slow read of the store is not an outage. */
  const readBoth = async (feeds: readonly FeedKey[]): Promise<boolean> => {
    const end = clock.monotonicMs() + probeMs
    const left = (): number => Math.max(0, end - clock.monotonicMs())
    const store = outcomeWithin(clock, left(), bars.ping())
    const boardOutcome = await outcomeWithin(clock, boardMs, readBoard(feeds))
    const newest = await outcomeWithin(clock, left(), statuses.readNewest(feeds))
    return boardOutcome === 'done' && newest !== 'failed' && (await store) === 'done'
  }

  return {
    schema: statusSchema,
    async handle(_, { key, view }) {
      const feeds = grantedFeeds(key, view)
      const storesAnswer = await readBoth(feeds.map((feed) => feed.key))
      const shown = feeds.map((feed) => [feed.key, statuses.of(feed, view)] as const)
      return {
        status: platformStatus(
          storesAnswer,
          shown.map(([, each]) => each),
        ),
        server_time: toSeconds(clock.utcMs()),
        feeds: Object.fromEntries(shown),
      }
    },
  }
}

const outcomeWithin = (
  clock: StatusDeps['clock'],
  ms: number,
  work: Promise<unknown>,
): Promise<'done' | 'failed' | 'late'> =>
  within(clock, ms, 'a read of a store', work).then(
    () => 'done',
    (cause: unknown) => (cause instanceof Late ? 'late' : 'failed'),
  )
