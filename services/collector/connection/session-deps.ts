import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedMetrics } from '../metrics.ts'
import type { BarRouter } from '../series/bar-router.ts'
import type { Spool } from '../spool/spool.ts'
import type { SessionClient } from './session-client.ts'

/** What the parts of one session share. */
export interface SessionDeps {
  readonly client: SessionClient
  readonly router: BarRouter
  /** By ingest's clock. */
  readonly time: { utcMs(): UtcMs }
  readonly clock: Clock
  readonly log: Log
  /** Aborts with the session. */
  readonly signal: AbortSignal
  /** Without a spool, unacknowledged bars are read from the source again. */
  readonly spool?: Spool | undefined
  readonly metrics?: FeedMetrics | undefined
}
