import { isDeepStrictEqual } from 'node:util'
import { type ServiceError, status } from '@grpc/grpc-js'
import type { Clock } from '../services/platform/system-clock.ts'
import type { Health__Output } from '../services/wire/gen/fxd/v1/Health.ts'
import type { Outcome } from './kube/condition.ts'
import { outdatedMs } from './listing.ts'

/** What the conditions of store and bus say; empty: this ingest does not tell. */
export type StoreOutcomes = Readonly<Partial<Record<'StoreAvailable' | 'BusAvailable', Outcome>>>

const unknown: Outcome = {
  status: 'Unknown',
  reason: 'IngestUnavailable',
  message: 'Ingest has not answered the operator for a minute, so it is not known whether bars are stored.',
}

/** Store and bus as ingest last reported them. */
export class StoreHealth {
  readonly #clock: Clock
  readonly #read: () => Promise<Health__Output>
  #outcomes: StoreOutcomes | undefined
  /** Monotonic milliseconds of the first failed read since the last good one. */
  #failingSinceMs: number | undefined

  constructor(clock: Clock, read: () => Promise<Health__Output>) {
    this.#clock = clock
    this.#read = read
  }

  /** `undefined` until ingest answered once or did not answer for a minute. */
  get outcomes(): StoreOutcomes | undefined {
    return this.#outcomes
  }

  /** Asks ingest. Resolves with whether something changed; never rejects. */
  async refresh(): Promise<boolean> {
    const before = this.#outcomes
    this.#outcomes = await this.#read().then(
      ({ storeFault, busFault }) => {
        this.#failingSinceMs = undefined
        return { StoreAvailable: outcomeOf('Store', storeFault), BusAvailable: outcomeOf('Bus', busFault) }
      },
      (cause: ServiceError) => (cause.code === status.UNIMPLEMENTED ? {} : this.#afterFailure()),
    )
    return !isDeepStrictEqual(before, this.#outcomes)
  }

  /** A short outage, such as a rollout of ingest, makes nothing unknown. */
  #afterFailure(): StoreOutcomes | undefined {
    const nowMs = this.#clock.monotonicMs()
    this.#failingSinceMs ??= nowMs
    if (nowMs - this.#failingSinceMs < outdatedMs) return this.#outcomes
    return { StoreAvailable: unknown, BusAvailable: unknown }
  }
}

const outcomeOf = (what: 'Store' | 'Bus', fault: string): Outcome =>
  fault === ''
    ? { status: 'True', reason: 'Available', message: `The ${what.toLowerCase()} works.` }
    : { status: 'False', reason: `${what}Unavailable`, message: fault }
