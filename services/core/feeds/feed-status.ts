import { type FeedSeconds, toFeed, toSeconds, type UtcMs } from '../clocks/feed-clock.ts'
import type { FeedDefinition } from './feed.ts'
import { barEnd, type Resolution } from './resolution.ts'

/** What is known of a feed's liveness; a field is absent until its first event. */
export interface FeedLiveness {
  /** When the live lane last delivered a bar. */
  readonly receivedAt?: UtcMs | undefined
  /** Greatest open time of all bars that were accepted up to the last delivery of the live lane. */
  readonly newestBar?: FeedSeconds | undefined
  /** When the collector last reported that its terminal is connected. */
  readonly heartbeatAt?: UtcMs | undefined
  /** Newest tick time that a session reported, on the feed's clock. */
  readonly newestTick?: FeedSeconds | undefined
}

/** Maximum age of a live feed; below it the feed is live. */
const liveBelowSeconds = 300
/** Maximum age of a stale feed; above it the feed is offline. */
const staleToSeconds = 1_800
/** Maximum offset, in either direction, without a `clock_note`. */
const farClockSeconds = 86_400
/** Maximum milliseconds of a stored time ahead of its reader's time; a later one came from a wrong clock. */
export const leadMsMax = 60_000

/** The feed object of the specification, fields in its order; unknown fields are absent. */
export interface FeedStatus {
  status: 'live' | 'stale' | 'offline'
  last_candle_time?: number
  last_candle_age_seconds?: number
  last_heartbeat_age_seconds?: number
  liveness_source: 'heartbeat' | 'candle' | 'none'
  clock_offset_seconds?: number
  clock_offset_age_seconds?: number
  symbol_count: number
  clock_note?: string
}

export interface FeedFacts {
  readonly definition: FeedDefinition
  readonly liveness: FeedLiveness
  readonly now: UtcMs
  /** `undefined`: the clock is unknown, which is never 0. */
  readonly offsetSeconds: number | undefined
  /** Age of the measurement of the offset; absent where the definition fixes it. */
  readonly offsetAgeSeconds?: number | undefined
  /** The stored bar of the feed with the greatest open time. */
  readonly newestStored?: { readonly time: FeedSeconds; readonly resolution: Resolution } | undefined
  readonly symbolCount: number
}

export function feedStatus(facts: FeedFacts): FeedStatus {
  const { liveness, now, definition, newestStored, offsetSeconds, offsetAgeSeconds } = facts
  const heartbeatAge = definition.liveness === 'heartbeat' ? ageSeconds(now, liveness.heartbeatAt) : undefined
  const candleTime =
    liveness.receivedAt === undefined ? newestStored?.time : (liveness.newestBar ?? newestStored?.time)
  const candleAge = ageSeconds(now, liveness.receivedAt) ?? storedAgeSeconds(facts)
  const hasCandle = liveness.receivedAt !== undefined || newestStored !== undefined
  const clockNote = noteOnClock(offsetSeconds)
  return {
    status: statusOfAge(heartbeatAge ?? candleAge),
    ...(candleTime !== undefined && { last_candle_time: candleTime }),
    ...(candleAge !== undefined && { last_candle_age_seconds: candleAge }),
    ...(heartbeatAge !== undefined && { last_heartbeat_age_seconds: heartbeatAge }),
    liveness_source: heartbeatAge !== undefined ? 'heartbeat' : hasCandle ? 'candle' : 'none',
    ...(offsetSeconds !== undefined && { clock_offset_seconds: offsetSeconds }),
    ...(offsetAgeSeconds !== undefined && { clock_offset_age_seconds: offsetAgeSeconds }),
    symbol_count: facts.symbolCount,
    ...(clockNote !== undefined && { clock_note: clockNote }),
  }
}

function statusOfAge(age: number | undefined): FeedStatus['status'] {
  if (age === undefined || age > staleToSeconds) return 'offline'
  return age < liveBelowSeconds ? 'live' : 'stale'
}

/** Whole seconds, at least 0: clocks of two machines may differ a little. A time far ahead has no age. */
export const ageSeconds = (now: UtcMs, at: UtcMs | undefined): number | undefined =>
  at === undefined || at - now > leadMsMax ? undefined : Math.max(0, Math.floor((now - at) / 1_000))

/** The age of a feed that was only imported counts from the end of its newest bar. */
function storedAgeSeconds({ newestStored, now, offsetSeconds }: FeedFacts): number | undefined {
  if (newestStored === undefined || offsetSeconds === undefined) return undefined
  const end = barEnd(newestStored.time, newestStored.resolution)
  return Math.max(0, toFeed(toSeconds(now), offsetSeconds) - end)
}

function noteOnClock(offsetSeconds: number | undefined): string | undefined {
  if (offsetSeconds === undefined || Math.abs(offsetSeconds) <= farClockSeconds) return undefined
  const days = Math.round(Math.abs(offsetSeconds) / 86_400)
  const side = offsetSeconds > 0 ? 'behind' : 'ahead of'
  return (
    `Bars of this feed are stamped by a broker clock about ${days} days ${side} UTC, so last_candle_time is not ` +
    'comparable to server_time; real UTC = bar time + clock_offset_seconds.'
  )
}

/** Only an unavailable dependency or a missing heartbeat degrades the platform, never closed markets alone. */
export function platformStatus(storesAnswer: boolean, feeds: Iterable<FeedStatus>): 'ok' | 'degraded' {
  if (!storesAnswer) return 'degraded'
  for (const feed of feeds) {
    if (feed.liveness_source === 'heartbeat' && feed.status === 'offline') return 'degraded'
  }
  return 'ok'
}
