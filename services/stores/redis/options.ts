import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Where the primary is. */
export interface RedisAt {
  /** `redis://` or `rediss://`; with Sentinels only its user, password, database and scheme count. */
  readonly url: string | undefined
  /** Asked for the primary; none: the URL names it. */
  readonly sentinels: readonly Endpoint[]
  /** The primary's name among the Sentinels. */
  readonly master: string
  /** What the Sentinels themselves ask for. */
  readonly sentinelPassword?: string | undefined
}

export interface RedisStoreOptions {
  readonly at: RedisAt
  /** Begins every key, so that several services can share one Redis. */
  readonly prefix: string
  /** Whether this process admits requests: it then counts among those that share the limits in an outage. */
  readonly admits: boolean
  /** Real time whatever clock the house runs on: the server answers in real time. */
  readonly clock: Clock
  /** A house on a virtual clock gives its time with each call; else Redis's own clock decides. */
  readonly time?: Clock
  readonly log: Log
  readonly metrics: Metrics
}
