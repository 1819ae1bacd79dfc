import { grantedFeeds } from '../../../access/grant.ts'
import type { FeedKey } from '../../../core/compound-key.ts'
import type { FeedDefinition } from '../../../core/feed.ts'
import { fixedOffset, toSeconds } from '../../../core/feed-clock.ts'
import { type FeedSigns, type FeedStatus, feedStatus, platformStatus } from '../../../core/feed-status.ts'
import type { RestDeps } from '../../deps.ts'
import type { Call, Route } from '../../route.ts'
import { createNewestStored, type NewestStored } from './newest-stored.ts'
import { statusSchema } from './schema.ts'

type StatusDeps = Pick<RestDeps, 'bars' | 'board' | 'clock'>

/** So long status waits for the stores; then it says `degraded`, well within its own deadline. */
const probeMs = 1_000

/** Answers while the stores are away, from what it last read of them. */
export function createStatusRoute({ bars, board, clock }: StatusDeps): Route<typeof statusSchema.query> {
  const newestStored = createNewestStored(bars)
  const lastSigns = new Map<FeedKey, FeedSigns>()
  const lastStored = new Map<FeedKey, NewestStored | undefined>()

  const readBoard = async (feeds: readonly FeedKey[]): Promise<void> => {
    const [signs] = await Promise.all([board.read(feeds), board.ping()])
    for (const feed of feeds) lastSigns.set(feed, signs.get(feed) ?? {})
  }
  const readStore = async (feeds: readonly FeedKey[]): Promise<void> => {
    // A feed that is received live needs no look into the store.
    const silent = feeds.filter((feed) => lastSigns.get(feed)?.receivedAt === undefined)
    const readNewest = async (feed: FeedKey): Promise<void> => {
      lastStored.set(feed, await newestStored(feed))
    }
    await Promise.all([bars.ping(), ...silent.map(readNewest)])
  }
  const readBoth = async (feeds: readonly FeedKey[]): Promise<boolean> => {
    const [ofBoard] = await Promise.allSettled([readBoard(feeds)])
    const [ofStore] = await Promise.allSettled([readStore(feeds)])
    return ofBoard.status === 'fulfilled' && ofStore.status === 'fulfilled'
  }

  const statusOf = (definition: FeedDefinition, { view }: Call): FeedStatus => {
    return feedStatus({
      definition,
      signs: lastSigns.get(definition.key) ?? {},
      now: clock.utcMs(),
      offsetSeconds: fixedOffset(definition.clock),
      newestStored: lastStored.get(definition.key),
      symbolCount: view.symbolsOf(definition.key).length,
    })
  }

  return {
    schema: statusSchema,
    async handle(_, call) {
      const feeds = grantedFeeds(call.key, call.view)
      const granted = feeds.map(({ key }) => key)
      const storesAnswer = await answersInTime(readBoth(granted), clock)
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

function answersInTime(work: Promise<boolean>, clock: StatusDeps['clock']): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(probeMs, () => resolve(false))
    void work.then(resolve).finally(cancel)
  })
}
