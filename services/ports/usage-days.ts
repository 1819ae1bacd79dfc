import type { DailyCounters, Day } from '../core/keys/usage.ts'

/** What one key did on one UTC day. */
export interface KeyDay {
  readonly keyId: string
  readonly day: Day
  readonly counters: DailyCounters
}

/**
 * Usage of UTC days that are over, kept where nothing is ever lost. Contract (test/contract/suites/usage-days.ts):
 *  - `add` resolves after the commit; of several counts of one key and day the greatest of each counter
 *    stays, so that order, repeats and two writers do not matter;
 *  - `of` gives the key's days from `first` to `last` (inclusive); days without any are left out;
 *  - a day is kept for `usageDaysKept` days at least;
 *  - every call ends within its deadline and fails as `Unavailable`.
 */
export interface UsageDays {
  add(days: readonly KeyDay[]): Promise<void>
  of(keyId: string, first: Day, last: Day): Promise<ReadonlyMap<Day, DailyCounters>>
}
