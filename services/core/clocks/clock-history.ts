import type { FeedKey } from '../feeds/compound-key.ts'
import type { FeedDefinition } from '../feeds/feed.ts'
import { fixedOffset, type UtcMs, utcMs } from './feed-clock.ts'

/**
 * What a feed's clock was known to show from a moment on. Readings are added and never taken away: each
 * tells by which offset the bars that came after it were understood, and no stored bar moves with a new one.
 */
export interface ClockReading {
  readonly feed: FeedKey
  readonly source: 'Fixed' | 'Measured'
  /** The specification's sign: utc = feed + offset. */
  readonly offsetSeconds: number
  readonly since: UtcMs
  /** When it was last measured; absent where the definition fixes it. */
  readonly measuredAt?: UtcMs | undefined
}

/** One record per reading, so that a store which keeps the newest of each record keeps them all. */
export const clockReadingId = ({ feed, since }: Pick<ClockReading, 'feed' | 'since'>): string =>
  `${feed} ${since}`

/** The reading that a definition adds to the history; `undefined` where the newest one says the same. */
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

/** So often the age of a measured clock begins anew: every time is a row of the registry. */
const measuredEveryMs = 3_600_000

/** The reading that a measured offset adds to the history or makes younger; `undefined` where neither is due. */
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

/** A clock of this machine that was set back must not reorder what happened. */
const sinceAfter = (newest: ClockReading | undefined, now: UtcMs): UtcMs =>
  newest === undefined ? now : utcMs(Math.max(now, newest.since + 1))

export interface KnownClock {
  readonly offsetSeconds: number
  readonly measuredAt?: UtcMs | undefined
}

/** What is known of a feed's clock now; `undefined` means unknown, which is never 0. */
export function knownClock(
  { clock }: Pick<FeedDefinition, 'clock'>,
  history: readonly ClockReading[],
): KnownClock | undefined {
  const offsetSeconds = fixedOffset(clock)
  if (offsetSeconds !== undefined) return { offsetSeconds }
  const newest = history.at(-1)
  return newest?.source === 'Measured' ? newest : undefined
}

/** The offset by which "now" on a feed's clock is reckoned. */
export const knownOffset = (
  definition: Pick<FeedDefinition, 'key' | 'clock'>,
  view: { clocksOf(feed: FeedKey): readonly ClockReading[] },
): number | undefined => knownClock(definition, view.clocksOf(definition.key))?.offsetSeconds
