import { dateText, daySeconds, parseDate, secondsOfDate } from '../clocks/calendar.ts'
import { durationMs, durationText, durationWanted } from '../clocks/duration.ts'
import { type FeedClock, type FeedSeconds, feedSeconds, fixedOffset } from '../clocks/feed-clock.ts'
import type { Depth } from '../feeds/feed.ts'
import { type Resolution, resolutions, storedResolutions } from '../feeds/resolution.ts'
import type { Place } from './document.ts'

type PerResolution<T> = Partial<Record<Resolution, T>>

const since = (year: number): Depth => ({ since: feedSeconds(secondsOfDate({ year, month: 1, day: 1 })) })
const days = (count: number): Depth => ({ seconds: count * daySeconds })

/** Default depth of history, as the specification has it; its dates are dates of UTC. */
const usualDepth: Readonly<Record<Exclude<Resolution, '30'>, Depth>> = {
  '1': days(90),
  '5': days(365),
  '10': days(365),
  '15': days(365),
  '60': since(2024),
  '120': since(2024),
  '240': since(2024),
  '1D': since(2024),
  '1W': since(2024),
  '1M': since(2016),
}

/** How far back a collector reads missing bars: the values of the manifest, else the default depth of the feed's resolutions. */
export function parseDepth(
  place: Place,
  served: readonly Resolution[],
  clock: FeedClock,
): PerResolution<Depth> {
  const given = perResolution(place, served, (field) =>
    field.read(`${durationWanted}, or a date such as 2024-01-01`, asDepth),
  )
  const usual: PerResolution<Depth> = {}
  for (const r of storedResolutions) {
    if (served.includes(r)) usual[r] = onFeedClock(usualDepth[r], clock)
  }
  return { ...usual, ...given }
}

/** The date before which ingest refuses bars, on the feed's clock; there is no default. */
export const parseEarliest = (place: Place): FeedSeconds | undefined =>
  place.read('a date such as 2024-01-01', (value) => {
    const date = asDate(value)
    return date === undefined ? undefined : feedSeconds(date)
  })

/** Seconds for which bars are kept, per resolution; there is no default. */
export const parseRetention = (place: Place, served: readonly Resolution[]): PerResolution<number> =>
  perResolution(place, served, (field) => field.read(durationWanted, asSeconds))

function perResolution<T>(
  place: Place,
  served: readonly Resolution[],
  parse: (field: Place) => T | undefined,
): PerResolution<T> {
  const parsed: PerResolution<T> = {}
  const fields = place.mapping(resolutions)
  for (const r of fields.names) {
    const field = fields.may(r)
    if (r === '30')
      field.fault('got a value for "30", wanted it for "1": 30 is derived from 1 and never stored')
    else if (!served.includes(r))
      field.fault(`got a value for "${r}", wanted one of the feed's own resolutions`)
    else {
      const value = parse(field)
      if (value !== undefined) parsed[r] = value
    }
  }
  return parsed
}

function asSeconds(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? durationMs(value) : undefined
  return ms === undefined || ms === 0 ? undefined : ms / 1_000
}

function asDepth(value: unknown): Depth | undefined {
  const seconds = asSeconds(value)
  if (seconds !== undefined) return { seconds }
  const date = asDate(value)
  return date === undefined ? undefined : { since: feedSeconds(date) }
}

const asDate = (value: unknown): number | undefined =>
  typeof value === 'string' ? parseDate(value) : dateValue(value)

/** Some YAML parsers make a date object of `2024-01-01`. */
function dateValue(value: unknown): number | undefined {
  if (Object.prototype.toString.call(value) !== '[object Date]') return undefined
  const ms = (value as { getTime?: () => unknown }).getTime?.()
  return typeof ms === 'number' && Number.isFinite(ms) ? startOfDay(ms / 1_000) : undefined
}

const startOfDay = (seconds: number): FeedSeconds =>
  feedSeconds(Math.floor(seconds / daySeconds) * daySeconds)

/** Converts a default date of UTC for clocks that are days or years away from UTC; hours do not matter. */
function onFeedClock(depth: Depth, clock: FeedClock): Depth {
  const offset = fixedOffset(clock) ?? 0
  if (!('since' in depth) || Math.abs(offset) <= daySeconds) return depth
  return { since: startOfDay(depth.since - offset) }
}

export const depthText = (depth: Depth): string =>
  'since' in depth ? dateText(depth.since) : durationText(depth.seconds)
