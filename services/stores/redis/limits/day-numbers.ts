import { dateText, daySeconds, parseDate } from '../../../core/clocks/calendar.ts'
import type { Day } from '../../../core/keys/usage.ts'

/** Days since 1970, as the scripts count them. */
export const dayNumber = (day: Day): number => (parseDate(day) ?? 0) / daySeconds
export const dayOfNumber = (number: number): Day => dateText(number * daySeconds)
