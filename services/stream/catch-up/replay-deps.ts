import type { History } from '../../bars/history.ts'
import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import type { Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import type { replayGapReasons } from '../metrics.ts'
import type { RecentBars } from './recent-bars.ts'

/** A symbol that was just subscribed to; its live bars are deferred until its bars after `after` were sent. */
export interface Resumed {
  readonly id: SymbolId
  readonly symbol: CompoundKey
  readonly feed: FeedKey
  readonly after: FeedSeconds
}

/** Why a client gets a GAP frame instead of its bars. */
export type ReplayGapReason = (typeof replayGapReasons)[number]

export interface ReplayDeps {
  readonly clock: Clock
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly recent: RecentBars
  /** Whether the store may soon show what the bus lost, or lost bars are being read for all subscribers. */
  readonly isFilling: (feed: FeedKey) => boolean
  /** Whether the bus lost bars of the feed that the store may not show yet. */
  readonly isUnconfirmed: (feed: FeedKey) => boolean
  /** Open time of the symbol's last live bar. */
  readonly lastTime: (id: SymbolId) => FeedSeconds | undefined
  /** Whether the fan-out has a bar of the symbol that is not written to all sockets. */
  readonly isInFanOut: (id: SymbolId) => boolean
  /** Writes all frames of the fan-out to their sockets. */
  readonly settle: () => void
  readonly frame: (id: SymbolId, bar: Bar) => Frames
  /** Sends a GAP frame: bars of the symbol later than `after` may be missing on the socket. */
  readonly nameGap: (
    connection: Connection,
    symbol: CompoundKey,
    after: FeedSeconds,
    why: ReplayGapReason,
  ) => void
  /** Called when no replay of the feed is left: all bars were sent, or gaps were named. */
  readonly ended: (connection: Connection, feed: FeedKey) => void
}
