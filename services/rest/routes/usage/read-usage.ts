import { type DailyCounters, type Day, greaterCounters } from '../../../core/keys/usage.ts'
import { within } from '../../../platform/within.ts'
import type { RestDeps } from '../../deps.ts'

type ReaderDeps = Pick<RestDeps, 'limits' | 'usageDays' | 'clock'>

/** Maximum wait for stored days that the counters have too; then the counters alone are the answer. */
const storeMs = 1_000

/**
 * Returns a function that reads the counters of days, from the limits and from the store of past days. The days
 * are ascending, and the last is today. If both have a day, the greater of each counter is used: the stored copy may be
 * older, and the counters may have been reset. Rejects if only the store can have a day and is unavailable.
 */
export function createUsageReader({ limits, usageDays, clock }: ReaderDeps) {
  const closedDays = (
    keyId: string,
    days: readonly Day[],
  ): Promise<ReadonlyMap<Day, DailyCounters> | undefined> => {
    const [first, last] = [days[0], days.at(-2)]
    if (first === undefined || last === undefined) return Promise.resolve(undefined)
    const closed = usageDays.of(keyId, first, last)
    if (days.length > limits.daysKept) return closed
    return within(clock, storeMs, 'reading stored days', closed).catch(() => undefined)
  }

  return async (keyId: string, days: readonly Day[]): Promise<ReadonlyMap<Day, DailyCounters>> => {
    const [first, today] = [days[0] ?? '', days.at(-1) ?? '']
    const [counted, closed] = await Promise.all([limits.usage(keyId, first, today), closedDays(keyId, days)])
    const both = new Map(counted)
    for (const [day, counters] of closed ?? []) {
      const other = both.get(day)
      both.set(day, other === undefined ? counters : greaterCounters(counters, other))
    }
    return both
  }
}
