/** Two clocks, branded: mixing them once showed users bars three hours ahead (specification, Events rule 2). */
declare const clock: unique symbol

/** Unix epoch seconds on the feed's own clock; bar times are always these. */
export type FeedSeconds = number & { readonly [clock]: 'feed' }
/** Unix epoch seconds of real UTC. */
export type UtcSeconds = number & { readonly [clock]: 'utc' }
/** Unix epoch milliseconds of real UTC. */
export type UtcMs = number & { readonly [clock]: 'utc-ms' }

/** How the clock of a feed is known; `offsetSeconds` has the sign of the specification: utc = feed + offset. */
export type FeedClock =
  | { readonly mode: 'UTC' }
  | { readonly mode: 'Fixed'; readonly offsetSeconds: number }
  | { readonly mode: 'Measured' }

/** Maximum offset, about thirty years, so that "now" on the feed's clock is after 1970. */
export const offsetSecondsMax = 1_000_000_000

/** Maximum step of a broker's clock that is put back or forward, such as at the end of summer time. */
export const clockStepSecondsMax = 7_200
/** Minimum step: brokers set theirs by a quarter of an hour or more. */
export const clockStepSecondsMin = 900

export const feedSeconds = (value: number): FeedSeconds => value as FeedSeconds
export const utcMs = (value: number): UtcMs => value as UtcMs
export const toSeconds = (at: UtcMs): UtcSeconds => Math.floor(at / 1000) as UtcSeconds

/** The only conversion between the clocks: real_utc = feed_timestamp + clock_offset_seconds. */
export const toFeed = (at: UtcSeconds, offsetSeconds: number): FeedSeconds =>
  (at - offsetSeconds) as FeedSeconds

/** Whether a time that was reported after another one shows that the broker set its clock back between. */
export const wasSetBack = (before: FeedSeconds, reported: FeedSeconds): boolean =>
  before - reported >= clockStepSecondsMin && before - reported <= clockStepSecondsMax

/** The later of two times of one clock; an unknown time is before all others. */
export function later<T extends number>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return b > a ? b : a
}

/** The offset that the definition fixes; `undefined` means unknown, which is never 0. */
export function fixedOffset(feedClock: FeedClock): number | undefined {
  if (feedClock.mode === 'UTC') return 0
  return feedClock.mode === 'Fixed' ? feedClock.offsetSeconds : undefined
}

/**
 * "Now" on a feed's clock. While the offset is unknown it is the newest tick time that the session reported,
 * and `undefined` before any: then only a later bar can close an earlier one.
 */
export function feedNow(
  now: UtcMs,
  offsetSeconds: number | undefined,
  newestTick: FeedSeconds | undefined,
): FeedSeconds | undefined {
  return offsetSeconds === undefined ? newestTick : toFeed(toSeconds(now), offsetSeconds)
}
