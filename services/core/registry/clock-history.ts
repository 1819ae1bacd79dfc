import { fixedOffset, type UtcMs, utcMs } from '../clocks/feed-clock.ts'
import type { FeedKey } from '../feeds/compound-key.ts'
import type { FeedDefinition } from '../feeds/feed.ts'

/**
 * What was known of a feed's clock from a moment on. Readings are added and never removed: bars that came after
 * a reading were read with its offset, and a new reading moves no stored bar.
 */
export interface ClockReading {
  readonly feed: FeedKey
  readonly source: 'Fixed' | 'Measured'
  /** The sign is that of the specification: utc = feed + offset. */
  readonly offsetSeconds: number
  readonly since: UtcMs
  /** The time of the last measurement; absent where the definition fixes the offset. */
  readonly measuredAt?: UtcMs | undefined
}

/** A separate id per reading: a store that keeps the newest row of each record keeps all readings. */
export const clockReadingId = ({ feed, since }: Pick<ClockReading, 'feed' | 'since'>): string =>
  `${feed} ${since}`

/** The reading that a definition adds to the history; `undefined` where the newest one is the same. */
export function readingOfDefinition(
  { key, clock }: FeedDefinition,
  history: readonly ClockReading[],
  now: UtcMs,
): ClockReading | undefined {
  const offsetSeconds = fixedOffset(clock)
  const newest = history.at(-1)
  if (offsetSeconds === undefined) return undefined
  if (newest?.source === 'Fixed' && newest.offsetSeconds === offsetSeconds) return undefined
  return { feed: key, source: 'Fixed', offsetSeconds, since: sinceAfter(newest, now) }
}

/** Minimum interval at which the age of a measured clock is renewed: each renewal is a row of the registry. */
const measuredEveryMs = 3_600_000

/** The reading that a measured offset adds to the history or renews; `undefined` where neither is due. */
export function readingOfMeasure(
  { key, clock }: FeedDefinition,
  history: readonly ClockReading[],
  offsetSeconds: number,
  now: UtcMs,
): ClockReading | undefined {
  if (clock.mode !== 'Measured') return undefined
  const newest = history.at(-1)
  if (newest?.source === 'Measured' && newest.offsetSeconds === offsetSeconds) {
    const isYoung = newest.measuredAt !== undefined && now - newest.measuredAt < measuredEveryMs
    return isYoung ? undefined : { ...newest, measuredAt: now }
  }
  return { feed: key, source: 'Measured', offsetSeconds, since: sinceAfter(newest, now), measuredAt: now }
}

/** Readings stay in order when the clock of this machine was set back. */
const sinceAfter = (newest: ClockReading | undefined, now: UtcMs): UtcMs =>
  newest === undefined ? now : utcMs(Math.max(now, newest.since + 1))

export interface KnownClock {
  readonly offsetSeconds: number
  readonly measuredAt?: UtcMs | undefined
}

/** The known clock of a feed now; `undefined` means unknown, which is never 0. */
export function knownClock(
  { clock }: Pick<FeedDefinition, 'clock'>,
  history: readonly ClockReading[],
): KnownClock | undefined {
  const offsetSeconds = fixedOffset(clock)
  if (offsetSeconds !== undefined) return { offsetSeconds }
  const newest = history.at(-1)
  return newest?.source === 'Measured' ? newest : undefined
}

/** The offset for "now" on a feed's clock. */
export const knownOffset = (
  definition: Pick<FeedDefinition, 'key' | 'clock'>,
  view: { clocksOf(feed: FeedKey): readonly ClockReading[] },
): number | undefined => knownClock(definition, view.clocksOf(definition.key))?.offsetSeconds
