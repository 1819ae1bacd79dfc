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

/** How many polls of charts a key may send for each of its requests. */
const pollsPerRequest = 10

/** Counts a poll of a chart in the windows of polls and in the usage of the key. Throws `RateExceeded`, and counts nothing then. */
export async function admitPoll(
  limits: Limits,
  { id, limits: of }: KeyRecord,
  endpoint: Endpoint,
): Promise<RateState> {
  const polls = { rpm: of.rpm * pollsPerRequest, rpd: of.rpd * pollsPerRequest }
  return stateOrThrow(await limits.poll(id, polls, endpoint))
}

/** Counts a request of the key in both windows and in its usage. Throws `RateExceeded`, and counts nothing then. */
export async function admit(limits: Limits, key: KeyRecord, endpoint: Endpoint): Promise<RateState> {
  return stateOrThrow(await limits.admit(key.id, key.limits, endpoint))
}

function stateOrThrow(decision: RateDecision): RateState {
  if (decision.outcome === 'refused') throw new RateExceeded(decision)
  return decision.state
}
