import type { DailyCounters, Day } from '../core/keys/usage.ts'

export interface KeyDay {
  readonly keyId: string
  readonly day: Day
  readonly counters: DailyCounters
}

/**
 * Usage of past UTC days, kept in a durable store. Contract (test/contract/suites/usage-days.ts):
 *  - `add` resolves after the commit. Of several counts of one key and day the greatest of each counter is
 *    kept, so order, repeats and several writers do not matter;
 *  - `of` returns the key's days from `first` to `last` (inclusive), without days that have none;
 *  - a day is kept for at least `usageDaysKept` days;
 *  - a call that does not end within its deadline fails as `Unavailable`.
 */
export interface UsageDays {
  add(days: readonly KeyDay[]): Promise<void>
  of(keyId: string, first: Day, last: Day): Promise<ReadonlyMap<Day, DailyCounters>>
}
