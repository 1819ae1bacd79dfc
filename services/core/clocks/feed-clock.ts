/**
 * Two clocks run through this service, and mixing them once showed users bars three hours ahead
 * (spec, Events rule 2). Branded numbers make that mix-up a type error instead of an incident.
 */
declare const clock: unique symbol

/** Unix epoch seconds as the feed's own clock stamps them; bar times are always this. */
export type FeedSeconds = number & { readonly [clock]: 'feed' }
/** Unix epoch seconds of real UTC. */
export type UtcSeconds = number & { readonly [clock]: 'utc' }
/** Unix epoch milliseconds of real UTC. */
export type UtcMs = number & { readonly [clock]: 'utc-ms' }

/** How a feed's clock is known; `offsetSeconds` has the specification's sign: utc = feed + offset. */
export type FeedClock =
  | { readonly mode: 'UTC' }
  | { readonly mode: 'Fixed'; readonly offsetSeconds: number }
  | { readonly mode: 'Measured' }

/** About thirty years, either way, so that "now" on the feed's clock stays after 1970. */
export const offsetSecondsMax = 1_000_000_000

export const feedSeconds = (value: number): FeedSeconds => value as FeedSeconds
export const utcSeconds = (value: number): UtcSeconds => value as UtcSeconds
export const utcMs = (value: number): UtcMs => value as UtcMs
export const toSeconds = (at: UtcMs): UtcSeconds => Math.floor(at / 1000) as UtcSeconds

/** The only bridges between the clocks: real_utc = feed_timestamp + clock_offset_seconds. */
export const toUtc = (at: FeedSeconds, offsetSeconds: number): UtcSeconds =>
  (at + offsetSeconds) as UtcSeconds
export const toFeed = (at: UtcSeconds, offsetSeconds: number): FeedSeconds =>
  (at - offsetSeconds) as FeedSeconds

/** The later of two times of one clock; one that is not known is before all others. */
export function later<T extends number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return b > a ? b : a
}

/** The offset where the definition fixes it; `undefined` means unknown, which is never 0. */
export function fixedOffset(feedClock: FeedClock): number | undefined {
  if (feedClock.mode === 'UTC') return 0
  return feedClock.mode === 'Fixed' ? feedClock.offsetSeconds : undefined
}

/**
 * "Now" on a feed's clock. With the offset unknown it is the newest tick time that the session
 * reported, and `undefined` before any: then only a later bar can close an earlier one.
 */
export function feedNow(
  now: UtcMs,
  offsetSeconds: number | undefined,
  newestTick: FeedSeconds | undefined,
): FeedSeconds | undefined {
  return offsetSeconds === undefined ? newestTick : toFeed(toSeconds(now), offsetSeconds)
}
