import { dateText, daySeconds } from '../../../core/clocks/calendar.ts'
import { toSeconds } from '../../../core/clocks/feed-clock.ts'
import { type DailyCounters, type Day, noCounters } from '../../../core/keys/usage.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { KeyDay } from '../../../ports/usage-days.ts'
import { Remembered } from './remembered.ts'

export const utcDay = (clock: Clock, daysAgo = 0): Day =>
  dateText(toSeconds(clock.utcMs()) - daysAgo * daySeconds)

/** Today and yesterday: a clock set back over midnight must find its counters. */
const daysInMemory = 2
export const firstDayInMemory = (clock: Clock): Day => utcDay(clock, daysInMemory - 1)

/** Daily counters of all keys for the days in memory; older days are only in the file. */
export class DailyUsage extends Remembered<string, KeyDay> {
  readonly #clock: Clock

  constructor(clock: Clock, rows: readonly KeyDay[]) {
    super(rows.map((row) => [rowId(row), row]))
    this.#clock = clock
  }

  /** Adds 1 to each of today's counters named. */
  add(keyId: string, ...names: readonly (keyof DailyCounters)[]): void {
    const day = utcDay(this.#clock)
    const counters = { ...(this.get(rowId({ keyId, day }))?.counters ?? noCounters) }
    for (const name of names) counters[name] += 1
    this.set(rowId({ keyId, day }), { keyId, day, counters })
  }

  ofKey(keyId: string, first: Day, last: Day): readonly KeyDay[] {
    const days = Array.from({ length: daysInMemory }, (_, daysAgo) => utcDay(this.#clock, daysAgo))
    const within = days.filter((day) => day >= first && day <= last)
    return within.flatMap((day) => this.get(rowId({ keyId, day })) ?? [])
  }

  forgetOldDays(): void {
    const first = firstDayInMemory(this.#clock)
    this.forget(({ day }) => day < first)
  }
}

const rowId = ({ keyId, day }: Pick<KeyDay, 'keyId' | 'day'>): string => `${day} ${keyId}`
