const minute = 60
const hour = 3_600
const day = 86_400

export const numberText = (value: number): string =>
  String(value).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ','))

/** `1 symbol`, `1,622 symbols`. */
export const countText = (count: number, name: string): string =>
  `${numberText(count)} ${name}${count === 1 ? '' : 's'}`

/** The greatest two units of a time span. */
export function spanText(seconds: number): string {
  const whole = Math.round(Math.abs(seconds))
  if (whole < minute) return `${whole} s`
  if (whole < hour) return joined(whole, minute, 'min', 1, 's')
  if (whole < day) return joined(whole, hour, 'h', minute, 'min')
  return joined(whole, day, 'd', hour, 'h')
}

function joined(seconds: number, unit: number, name: string, part: number, partName: string): string {
  const rest = Math.floor((seconds % unit) / part)
  const first = `${numberText(Math.floor(seconds / unit))} ${name}`
  return rest === 0 ? first : `${first} ${rest} ${partName}`
}

/** What the clock of a feed shows while UTC is 0: `real_utc = time + offset`. */
export function offsetText(offset: number | undefined): string {
  if (offset === undefined) return 'unknown'
  if (offset === 0) return 'equals UTC'
  return `${spanText(offset)} ${offset < 0 ? 'ahead of' : 'behind'} UTC`
}

/** `2026-11-29 12:31`; a date alone for bars of a day or longer. */
export function timeText(seconds: number, dateOnly = false): string {
  const date = new Date(seconds * 1_000)
  if (Number.isNaN(date.getTime())) return 'unknown'
  return date
    .toISOString()
    .slice(0, dateOnly ? 10 : 16)
    .replace('T', ' ')
}

/** Seconds of `2026-11-29T12:31` or `2026-11-29 12:31`; `undefined` for anything else. */
export function timeOf(text: string): number | undefined {
  const [, date, clock = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/.exec(text.trim()) ?? []
  const ms = new Date(`${date}T${clock}Z`).getTime()
  return Number.isNaN(ms) ? undefined : ms / 1_000
}
