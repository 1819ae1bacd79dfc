import type { Address } from '../../platform/config.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { KnownIdentity } from '../../ports/store-identity.ts'
import type { StoreUser } from './pg/connection-counts.ts'

export interface Credentials {
  readonly user: string
  readonly password: string
}

export interface QuestdbOptions {
  /** Writes and administration. */
  readonly http: Address
  /** Reads. */
  readonly pg: Address
  readonly credentials: Credentials
  /** Prefix of every table's name: lower-case letters, digits and `_`. */
  readonly prefix: string
  /** Real time, also in tests with a virtual clock: the server answers in real time. */
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Metrics
  /** `all` (the default) and `ingest` create and change the tables; other processes wait until one of them has. */
  readonly user?: StoreUser
  /** The store's identity as known outside of it; without it nothing is compared. */
  readonly known?: () => KnownIdentity | undefined
  /** A further copy of the identity, which counts where `known` has none. */
  readonly readKnown?: (() => string | undefined) | undefined
}
