import { feedSeconds, utcMs } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { leadMsMax } from '../../core/feeds/feed-status.ts'
import type { FeedBoard, FeedLiveness } from '../../ports/feed-board.ts'
import type { Keys } from './keys.ts'
import type { Calls } from './link/calls.ts'
import { scripts } from './scripts.ts'

const fields = ['receivedAt', 'newestBar', 'heartbeatAt', 'newestTick'] as const

export function redisFeedBoard(calls: Calls, keys: Keys): FeedBoard {
  const readOne = async (feed: FeedKey): Promise<[FeedKey, FeedLiveness][]> => {
    const values = (await calls.command('hmget', keys.liveness(feed), ...fields)) as (string | null)[]
    return values.every((value) => value === null) ? [] : [[feed, livenessOf(values)]]
  }
  return {
    async note(feed, liveness) {
      const noted = fields.flatMap((field) => {
        const value = liveness[field]
        return value === undefined ? [] : [field, value]
      })
      if (noted.length > 0)
        await calls.script(scripts.noteLiveness, [keys.liveness(feed)], [leadMsMax, ...noted])
    },
    async forget(feed) {
      // The Redis user of ingest may not call DEL. Redis removes a hash whose last field is deleted.
      await calls.command('hdel', keys.liveness(feed), ...fields)
    },
    read: async (feeds) => new Map((await Promise.all(feeds.map(readOne))).flat()),
    async ping() {
      await calls.command('ping')
    },
  }
}

function livenessOf(values: readonly (string | null)[]): FeedLiveness {
  const [receivedAt, newestBar, heartbeatAt, newestTick] = values.map((value) =>
    value === null ? undefined : Number(value),
  )
  return {
    ...(receivedAt !== undefined && { receivedAt: utcMs(receivedAt) }),
    ...(newestBar !== undefined && { newestBar: feedSeconds(newestBar) }),
    ...(heartbeatAt !== undefined && { heartbeatAt: utcMs(heartbeatAt) }),
    ...(newestTick !== undefined && { newestTick: feedSeconds(newestTick) }),
  }
}
