import type { Address } from '../../platform/config.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'

/** Where the primary is. */
export interface RedisAt {
  /** `redis://` or `rediss://`; with Sentinels only its user, password, database and scheme are used. */
  readonly url: string | undefined
  /** They report the primary; without any, the URL names it. */
  readonly sentinels: readonly Address[]
  /** The primary's name among the Sentinels. */
  readonly master: string
  /** Password of the Sentinels themselves. */
  readonly sentinelPassword?: string | undefined
  /** Whether the Sentinels have TLS; the scheme of the URL says it of the primary. */
  readonly sentinelTls?: boolean
}

export interface RedisStoreOptions {
  readonly at: RedisAt
  /** Prefix of every key, so that several services can share one Redis. */
  readonly prefix: string
  /** Whether this process admits requests: it then counts among those that share the limits in an outage. */
  readonly admits: boolean
  /** The number of processes that do, until this one has met the others. */
  readonly pods: number
  /** Real time, also in tests with a virtual clock: the server answers in real time. */
  readonly clock: Clock
  /** A virtual clock, whose time is sent with each call. Without it Redis's own clock decides. */
  readonly time?: Clock
  readonly log: Log
  readonly metrics: Metrics
}
