import { grantedFeeds } from '../../../access/grant.ts'
import { type NewestBar, newestByOpen } from '../../../core/bars/newest-bar.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../../core/fair-queue.ts'
import type { FeedKey } from '../../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../../core/feeds/feed.ts'
import {
  ageSeconds,
  type FeedLiveness,
  type FeedStatus,
  feedStatus,
  platformStatus,
} from '../../../core/feeds/feed-status.ts'
import { knownClock } from '../../../core/registry/clock-history.ts'
import { Late, within } from '../../../platform/within.ts'
import type { BarStore } from '../../../ports/bars.ts'
import type { RestDeps } from '../../deps.ts'
import type { Call, Route } from '../../route.ts'
import { statusSchema } from './schema.ts'

type StatusDeps = Pick<RestDeps, 'bars' | 'board' | 'clock'>

/** Store probe timeout, less than the request's deadline; after it /v1/status reports `degraded`. */
const probeMs = 1_000
/** Part of it for the feed board, so that a silent board leaves time to read the store. */
const boardMs = 500

/** Also answers while the stores are unavailable, from its last reads. */
export function createStatusRoute({ bars, board, clock }: StatusDeps): Route<typeof statusSchema.query> {
  const newestStored = createNewestStored(bars)
  const lastLiveness = new Map<FeedKey, FeedLiveness>()
  const lastStored = new Map<FeedKey, NewestBar | undefined>()

  const readBoard = async (feeds: readonly FeedKey[]): Promise<void> => {
    const [liveness] = await Promise.all([board.read(feeds), board.ping()])
    for (const feed of feeds) lastLiveness.set(feed, liveness.get(feed) ?? {})
  }
  /** Rejects if a read fails. What is not read in time is shown as last known: a slow store is not an outage. */
  const readNewest = async (feeds: readonly FeedKey[]): Promise<void> => {
    // A feed with live bars needs no read of the store.
    const silent = feeds.filter((feed) => lastLiveness.get(feed)?.receivedAt === undefined)
    await Promise.all(silent.map(async (feed) => lastStored.set(feed, await newestStored(feed))))
  }
  /** Resolves to whether both stores answer, within the probe timeout. */
  const readBoth = async (feeds: readonly FeedKey[]): Promise<boolean> => {
    const end = clock.monotonicMs() + probeMs
    const left = (): number => Math.max(0, end - clock.monotonicMs())
    const store = outcomeWithin(clock, left(), bars.ping())
    const boardOutcome = await outcomeWithin(clock, boardMs, readBoard(feeds))
    const newest = await outcomeWithin(clock, left(), readNewest(feeds))
    return boardOutcome === 'done' && newest !== 'failed' && (await store) === 'done'
  }

  const statusOf = (definition: FeedDefinition, { view }: Call): FeedStatus => {
    const now = clock.utcMs()
    const known = knownClock(definition, view.clocksOf(definition.key))
    return feedStatus({
      definition,
      liveness: lastLiveness.get(definition.key) ?? {},
      now,
      offsetSeconds: known?.offsetSeconds,
      offsetAgeSeconds: ageSeconds(now, known?.measuredAt),
      newestStored: lastStored.get(definition.key),
      symbolCount: view.symbolsOf(definition.key).length,
    })
  }

  return {
    schema: statusSchema,
    async handle(_, call) {
      const feeds = grantedFeeds(call.key, call.view)
      const granted = feeds.map(({ key }) => key)
      const storesAnswer = await readBoth(granted)
      const statuses = feeds.map((feed) => [feed.key, statusOf(feed, call)] as const)
      return {
        status: platformStatus(
          storesAnswer,
          statuses.map(([, each]) => each),
        ),
        server_time: toSeconds(clock.utcMs()),
        feeds: Object.fromEntries(statuses),
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

/** The read covers every series, so requests that arrive during a read share it. */
function createNewestStored(
  bars: Pick<BarStore, 'lastTimes'>,
): (feed: FeedKey) => Promise<NewestBar | undefined> {
  const reads = new Map<FeedKey, Promise<NewestBar | undefined>>()
  return (feed) => {
    const running = reads.get(feed)
    if (running) return running
    const read = bars
      .lastTimes(feed, { reader: serviceReader('status') })
      .then(newestByOpen)
      .finally(() => reads.delete(feed))
    reads.set(feed, read)
    return read
  }
}
