import { dayMs, minuteMs } from '../clocks/calendar.ts'
import type { UtcMs } from '../clocks/feed-clock.ts'

export interface RateLimits {
  readonly rpm: number
  readonly rpd: number
}

/** The values of the rate headers, after the decision. Windows are UTC minutes and days, by the clock of the limits. */
export interface RateState {
  readonly limitMinute: number
  readonly remainingMinute: number
  /** Unix seconds at which the minute window resets. */
  readonly resetMinute: number
  readonly limitDay: number
  readonly remainingDay: number
}

export type RateDecision =
  | { readonly outcome: 'admitted'; readonly state: RateState }
  | {
      readonly outcome: 'refused'
      readonly state: RateState
      /** The exceeded window; of two full ones the one that resets last. */
      readonly exceeded: 'minute' | 'day'
      readonly retryAfterSeconds: number
      /** Set while the shared limits are unavailable: the requests that this process admits of the minute. */
      readonly share?: number
    }

/** How much a key used of its two windows; `minute` and `day` number the windows since 1970. */
export interface RateUse {
  readonly minute: number
  readonly usedMinute: number
  readonly day: number
  readonly usedDay: number
}

export const noUse: RateUse = Object.freeze({ minute: 0, usedMinute: 0, day: 0, usedDay: 0 })

/**
 * How a request counts: `observe` consumes nothing and is always admitted. `poll` counts in two windows of its own,
 * which are those of the polls of charts.
 */
export type RateCall = 'admit' | 'observe' | 'poll'

/** Consumes 1 of both windows or, when one is full, nothing. */
export function decide(
  call: RateCall,
  use: RateUse,
  limits: RateLimits,
  nowMs: UtcMs,
): { readonly next: RateUse; readonly decision: RateDecision } {
  const at = steadyMs(use, nowMs)
  const current = useAt(use, at)
  if (call === 'observe')
    return { next: current, decision: { outcome: 'admitted', state: stateOf(current, limits) } }
  const exceeded = exceededWindow(current, limits)
  const next =
    exceeded === undefined
      ? { ...current, usedMinute: current.usedMinute + 1, usedDay: current.usedDay + 1 }
      : current
  return { next, decision: decisionOf(next, limits, nowMs, exceeded) }
}

/** Converts a decision to its answer; `use` is the use of both windows after the decision. */
export function decisionOf(
  use: RateUse,
  limits: RateLimits,
  nowMs: UtcMs,
  exceeded: 'minute' | 'day' | undefined,
): RateDecision {
  const state = stateOf(use, limits)
  if (exceeded === undefined) return { outcome: 'admitted', state }
  const reopensMs = exceeded === 'day' ? (use.day + 1) * dayMs : (use.minute + 1) * minuteMs
  const retryAfterSeconds = Math.max(1, Math.ceil((reopensMs - nowMs) / 1_000))
  return { outcome: 'refused', state, exceeded, retryAfterSeconds }
}

/** A clock set back by up to a minute must not reopen a window that was counted already. */
function steadyMs(use: RateUse, nowMs: UtcMs): number {
  const begunMs = use.minute * minuteMs
  return nowMs < begunMs && begunMs - nowMs <= minuteMs ? begunMs : nowMs
}

function useAt(use: RateUse, atMs: number): RateUse {
  const minute = Math.floor(atMs / minuteMs)
  const day = Math.floor(atMs / dayMs)
  return {
    minute,
    usedMinute: minute === use.minute ? use.usedMinute : 0,
    day,
    usedDay: day === use.day ? use.usedDay : 0,
  }
}

/** The day first: it never resets before the minute. */
function exceededWindow(use: RateUse, limits: RateLimits): 'minute' | 'day' | undefined {
  if (use.usedDay >= limits.rpd) return 'day'
  return use.usedMinute >= limits.rpm ? 'minute' : undefined
}

const stateOf = (use: RateUse, { rpm, rpd }: RateLimits): RateState => ({
  limitMinute: rpm,
  remainingMinute: Math.max(0, rpm - use.usedMinute),
  resetMinute: ((use.minute + 1) * minuteMs) / 1_000,
  limitDay: rpd,
  remainingDay: Math.max(0, rpd - use.usedDay),
})
