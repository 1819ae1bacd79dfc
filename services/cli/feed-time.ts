import { parseDate } from '../core/clocks/calendar.ts'
import { show } from '../core/show.ts'
import { Fatal } from '../platform/process/exit.ts'

export const timeHelp = "a date or minute on the feed's clock, such as 2026-11-02 or 2026-11-02T14:30"

/** `dayEnd`: seconds from the start of a date to the time that it means. */
export function parseFeedTime(option: string, text: string, dayEnd: number): number {
  const [, day = '', hour, minute] = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}):(\d{2}))?$/.exec(text) ?? []
  const date = parseDate(day)
  if (date === undefined || Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59)
    throw new Fatal('usage', `${option} is ${show(text)}; it must be ${timeHelp}.`)
  return hour === undefined ? date + dayEnd : date + Number(hour) * 3_600 + Number(minute) * 60
}
