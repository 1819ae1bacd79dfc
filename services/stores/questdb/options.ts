import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'

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
  /** Begins every table's name: lower-case letters, digits and `_`. */
  readonly prefix: string
  /** Real time whatever clock the house runs on: the server answers in real time. */
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** Makes and changes the tables (the default); else it waits until another process has. */
  readonly migrates?: boolean
}
