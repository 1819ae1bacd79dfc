import type { Coverage } from '../bars/coverage.ts'
import type { History } from '../bars/history.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { Secrets } from '../platform/credentials/secrets.ts'
import type { Log } from '../platform/log/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { BarStore } from '../ports/bars.ts'
import type { Bus } from '../ports/bus.ts'
import type { Clock } from '../ports/clock.ts'
import type { FeedBoard } from '../ports/feed-board.ts'
import type { Limits } from '../ports/limits.ts'
import type { Slots } from '../ports/slots.ts'
import type { UsageDays } from '../ports/usage-days.ts'

export interface RestDeps {
  /** Returns the last good registry; throws `Unavailable` until one was loaded. */
  readonly registry: { view(): RegistryView }
  readonly history: History
  readonly coverage: Coverage
  readonly bars: Pick<BarStore, 'lastTimes' | 'ping'>
  readonly board: Pick<FeedBoard, 'read' | 'ping'>
  readonly limits: Limits
  readonly bus: Pick<Bus, 'follow'>
  readonly usageDays: Pick<UsageDays, 'of'>
  readonly slots: Pick<Slots, 'inUse'>
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** CIDR blocks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[]
  /** Keys that sign the tokens of charts; empty: there are no charts. */
  readonly chartKeys: Secrets
}
