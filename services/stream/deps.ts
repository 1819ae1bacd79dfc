import type { History } from '../bars/history.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { BarStore } from '../ports/bars.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { FeedBoard } from '../ports/feed-board.ts'
import type { Limits } from '../ports/limits.ts'
import type { Slots } from '../ports/slots.ts'
import type { FollowedRegistry } from '../registry/follow.ts'
import type { FanOut } from './fan-out/fan-out.ts'
import type { Subscriptions } from './fan-out/subscriptions.ts'
import type { StreamMetrics } from './metrics.ts'

export interface StreamDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly registry: FollowedRegistry
  readonly slots: Slots
  readonly limits: Limits
  readonly bus: Bus
  /** Source of bars that the bus lost. */
  readonly bars: Pick<BarStore, 'read' | 'lastTimes'>
  /** Source of bars that a client missed; its tail must follow the bus before this stream starts. */
  readonly history: Pick<History, 'range'>
  readonly board: FeedBoard
  /** CIDR blocks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** Maximum sockets of this process; further upgrades are refused. */
  readonly connectionsMax: number
  /** Maximum bytes queued for all clients. Default: `allBacklogBytesMax`. */
  readonly backlogBytesMax?: number
}

/** What the parts of one stream share. */
export interface SharedDeps
  extends Pick<StreamDeps, 'clock' | 'log' | 'registry' | 'bus' | 'bars' | 'board' | 'history'> {
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly metrics: StreamMetrics
}
