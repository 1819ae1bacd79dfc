import { Failure } from '../core/failure.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { RateDecision, RateState } from '../core/keys/rate-window.ts'
import type { Endpoint } from '../core/keys/usage.ts'
import type { Limits } from '../ports/limits.ts'

/** The failure of a request above a limit, with the state for its headers. */
export class RateExceeded extends Failure {
  readonly exceeded: 'minute' | 'day'
  readonly state: RateState

  constructor({ exceeded, retryAfterSeconds, state, share }: Extract<RateDecision, { outcome: 'refused' }>) {
    const limit = exceeded === 'day' ? state.limitDay : state.limitMinute
    const reason =
      share === undefined
        ? `The limit of ${limit} requests per ${exceeded} is exceeded`
        : `The rate limiter is unavailable, and this server's share of ${share} requests per minute is used up`
    super('RATE_LIMIT_EXCEEDED', `${reason}; try again in ${retryAfterSeconds} seconds.`, {
      retryAfterSeconds,
    })
    this.exceeded = exceeded
    this.state = state
  }
}

/** Counts a request of the key in both windows and in its usage. Throws `RateExceeded`, and counts nothing then. */
export async function admit(limits: Limits, key: KeyRecord, endpoint: Endpoint): Promise<RateState> {
  const decision = await limits.admit(key.id, key.limits, endpoint)
  if (decision.outcome === 'refused') throw new RateExceeded(decision)
  return decision.state
}
