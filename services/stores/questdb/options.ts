import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoreUser } from './pg/connection-counts.ts'

export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface Credentials {
  readonly user: string
  readonly password: string
}

export interface QuestdbOptions {
  /** Writes and administration. */
  readonly http: Endpoint
  /** Reads. */
  readonly pg: Endpoint
  readonly credentials: Credentials
  /** Prefix of every table's name: lower-case letters, digits and `_`. */
  readonly prefix: string
  /** Real time, also in tests with a virtual clock: the server answers in real time. */
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** `all` (the default) and `ingest` create and change the tables; other processes wait until one of them has. */
  readonly user?: StoreUser
}
