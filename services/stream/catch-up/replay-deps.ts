import type { History } from '../../bars/history.ts'
import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { replayGapReasons } from '../metrics.ts'
import type { Connection } from '../sockets/connection.ts'
import type { Recent } from './recent.ts'

/** A symbol that was just subscribed to, held back until its bars after this time were sent. */
export interface Resumed {
  readonly id: number
  readonly symbol: CompoundKey
  readonly feed: FeedKey
  readonly after: FeedSeconds
}

/** Why a client is told of a gap instead of being sent its bars. */
export type ReplayGapReason = (typeof replayGapReasons)[number]

export interface ReplayDeps {
  readonly clock: Clock
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly recent: Recent
  /** Whether the store may show in a moment what the bus lost, or it is on its way to all subscribers. */
  readonly isFilling: (feed: FeedKey) => boolean
  /** Whether the bus lost bars of the feed that the store may not show yet. */
  readonly isUnconfirmed: (feed: FeedKey) => boolean
  /** Open time of the symbol's last bar on the live lane. */
  readonly lastTime: (id: number) => FeedSeconds | undefined
  /** Whether a bar of the symbol is on its way to sockets. */
  readonly isInFanOut: (id: number) => boolean
  /** Finishes what is on its way to sockets. */
  readonly settle: () => void
  readonly frame: (id: number, bar: Bar) => Frames
  /** The socket's bars of the symbol may be missing from there on. */
  readonly nameGap: (
    connection: Connection,
    symbol: CompoundKey,
    after: FeedSeconds,
    why: ReplayGapReason,
  ) => void
  /** A replay of the feed ended: all its bars were sent, or a gap was named. */
  readonly ended: (connection: Connection, feed: FeedKey) => void
}
