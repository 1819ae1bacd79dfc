import type { RateDecision, RateLimits, RateState } from '../core/keys/rate-window.ts'
import type { DailyCounters, Day, Endpoint } from '../core/keys/usage.ts'

export type { RateDecision, RateLimits, RateState }

/**
 * Rate windows and today's counters of all keys, shared by all pods. Contract (test/contract/suites/limits.ts):
 *  - for one key and window the admitted requests never exceed the limit, whatever the number of callers;
 *  - a rejected `admit` consumes nothing and adds 1 to `rate_limited` only. An admitted one consumes 1 of both
 *    windows and adds 1 to `requests` and 1 to its endpoint, in one step;
 *  - `poll` does the same as `admit` in two windows of its own;
 *  - `observe` consumes nothing, adds 1 to `requests` and to its endpoint, and is never rejected;
 *  - counters survive a restart, except those of the last second;
 *  - `usage` has `daysKept` days, today included.
 */
export interface Limits {
  /** Number of days whose counters `usage` has; `UsageDays` has older ones. */
  readonly daysKept: number
  admit(keyId: string, limits: RateLimits, endpoint: Endpoint): Promise<RateDecision>
  poll(keyId: string, limits: RateLimits, endpoint: Endpoint): Promise<RateDecision>
  observe(keyId: string, limits: RateLimits, endpoint: Endpoint): Promise<RateState>
  /** Counts an upgrade rejected with TOO_MANY_CONNECTIONS. */
  countRefusedUpgrade(keyId: string): Promise<void>
  /** Daily counters of the key from `first` to `last` (inclusive), without days that have none. */
  usage(keyId: string, first: Day, last: Day): Promise<ReadonlyMap<Day, DailyCounters>>
}
