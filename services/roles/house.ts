import type { Config } from '../platform/config.ts'
import type { Lifecycle } from '../platform/lifecycle.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { Clock } from '../ports/clock.ts'

/** What all parts of the process share. */
export interface House {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  readonly lifecycle: Lifecycle
}
