/** The proleptic Gregorian calendar on plain seconds, since it serves both clocks. It knows no clock or time zone. */
export const daySeconds = 86_400
export const dayMs = 86_400_000
export const minuteMs = 60_000

export interface CivilDate {
  readonly year: number
  /** 1..12 */
  readonly month: number
  /** 1..31 */
  readonly day: number
}

// Years begin in March here, so that the leap day is the last of its year. An era is 400 years.
const daysPerEra = 146_097
const daysFromYearZeroTo1970 = 719_468

/** Seconds at 00:00 of a date; a month or day out of range counts into the next. */
export function secondsOfDate({ year, month, day }: CivilDate): number {
  const months = year * 12 + (month - 1) - 2
  const marchYear = Math.floor(months / 12)
  const marchMonth = months - marchYear * 12
  const era = Math.floor(marchYear / 400)
  const yearOfEra = marchYear - era * 400
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return (era * daysPerEra + dayOfEra - daysFromYearZeroTo1970) * daySeconds
}

export function dateOfSeconds(seconds: number): CivilDate {
  const days = Math.floor(seconds / daySeconds) + daysFromYearZeroTo1970
  const era = Math.floor(days / daysPerEra)
  const dayOfEra = days - era * daysPerEra
  const leapDays =
    Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365)
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  }
}

const dateShape = /^(\d{4})-(\d{2})-(\d{2})$/

/** Seconds at 00:00 of `YYYY-MM-DD`; `undefined` for any other text and for dates that do not exist. */
export function parseDate(text: string): number | undefined {
  const match = dateShape.exec(text)
  if (!match) return undefined
  const seconds = secondsOfDate({ year: Number(match[1]), month: Number(match[2]), day: Number(match[3]) })
  return dateText(seconds) === text ? seconds : undefined
}

/** `YYYY-MM-DD` of an instant. */
export function dateText(seconds: number): string {
  const { year, month, day } = dateOfSeconds(seconds)
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
}
