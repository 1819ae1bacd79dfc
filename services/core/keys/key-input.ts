import { daySeconds, parseDate } from '../clocks/calendar.ts'
import { durationMs, durationWanted } from '../clocks/duration.ts'
import { type UtcMs, utcMs } from '../clocks/feed-clock.ts'
import { Failure } from '../failure.ts'
import { show } from '../show.ts'
import { didYouMean } from '../suggest.ts'
import { isPlan, type KeyLimits, type Plan, planLimits, plans } from './plan.ts'

const invalid = (message: string): Failure => new Failure('INVALID_PARAMS', message)
const instantShape = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+-]\d{2}:\d{2})$/

/** The first millisecond of expiry; of a date the end of that UTC day. `others`: what the caller accepts too. */
export function parseExpiry(text: string, others = ''): UtcMs {
  const date = parseDate(text)
  if (date !== undefined) return utcMs((date + daySeconds) * 1_000)
  const instant = parseInstant(text)
  if (instant !== undefined) return instant
  throw invalid(
    `expires: got ${show(text)}, wanted ${others}a date such as 2027-01-31 (the end of that UTC day) ` +
      'or an instant such as 2027-01-31T12:00:00Z',
  )
}

function parseInstant(text: string): UtcMs | undefined {
  const match = instantShape.exec(text)
  if (!match) return undefined
  const [, dateText = '', hour, minute, second = '0', fraction = '', zone = 'Z'] = match
  const date = parseDate(dateText)
  if (date === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const zoneHours = zone === 'Z' ? 0 : Number(zone.slice(1, 3))
  const zoneMinutes = zone === 'Z' ? 0 : Number(zone.slice(4))
  if (zoneHours > 14 || zoneMinutes > 59) return undefined
  const zoneSeconds = (zone.startsWith('-') ? -1 : 1) * (zoneHours * 3_600 + zoneMinutes * 60)
  const seconds = date + Number(hour) * 3_600 + Number(minute) * 60 + Number(second) - zoneSeconds
  return utcMs(seconds * 1_000 + Number(fraction.padEnd(3, '0')))
}

/** Milliseconds of `30s`, `15m`, `1h`, `90d` or `2w`. */
export function parseDuration(text: string): number {
  const ms = durationMs(text)
  if (ms === undefined) throw invalid(`duration: got ${show(text)}, wanted ${durationWanted}`)
  return ms
}

export function parsePlan(text: string): Plan {
  if (isPlan(text)) return text
  throw invalid(`plan: got ${show(text)}, wanted one of ${plans.join(', ')}${didYouMean(text, plans)}`)
}

/** A key that may open no socket is useful; a key that may send no request is not. */
const limitRules = [
  { name: 'rpm', shown: 'rpm', min: 1, max: 1_000_000 },
  { name: 'rpd', shown: 'rpd', min: 1, max: 1_000_000_000 },
  { name: 'wsConnections', shown: 'ws_connections', min: 0, max: 10_000 },
  { name: 'wsSymbols', shown: 'ws_symbols', min: 0, max: 10_000 },
] as const

export type GivenLimits = { readonly [name in keyof KeyLimits]?: number | undefined }

/** Limits of the plan, overridden by those given for the key; `enterprise` requires all four. */
export function resolveLimits(plan: Plan, given: GivenLimits): KeyLimits {
  const defaults: GivenLimits = plan === 'enterprise' ? {} : planLimits[plan]
  const missing: string[] = []
  const limits = { rpm: 0, rpd: 0, wsConnections: 0, wsSymbols: 0 }
  for (const { name, shown, min, max } of limitRules) {
    const value = given[name] ?? defaults[name]
    if (value === undefined) missing.push(shown)
    else if (Number.isInteger(value) && value >= min && value <= max) limits[name] = value
    else throw invalid(`limits: ${shown}: got ${show(value)}, wanted a whole number from ${min} to ${max}`)
  }
  if (missing.length === 0) return limits
  throw invalid(`limits: got no ${missing.join(', ')}, wanted all four with plan ${plan}`)
}
