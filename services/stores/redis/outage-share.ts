import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import {
  decide,
  noUse,
  type RateCall,
  type RateDecision,
  type RateLimits,
  type RateUse,
} from '../../core/keys/rate-window.ts'

/** What a pod knows of one key while the shared limits are unavailable. */
export interface KnownUse {
  /** The windows as all pods last shared them. */
  readonly seen: RateUse
  /** What this pod admitted by its share, in all outages within the windows. */
  readonly own: RateUse
}

export const nothingKnown: KnownUse = Object.freeze({ seen: noUse, own: noUse })

/**
 * Decides while the shared limits are unavailable: each pod admits its share of the last known remainder of a window,
 * at least 1. So in one window all pods together admit at most the earlier requests, the limit, and one per pod. With
 * `pods` undefined this pod has never met the others and admits 1.
 */
export function decideByShare(
  call: RateCall,
  known: KnownUse,
  limits: RateLimits,
  nowMs: UtcMs,
  pods: number | undefined,
): { readonly next: KnownUse; readonly decision: RateDecision } {
  const { remainingMinute, remainingDay } = decide('observe', known.seen, limits, nowMs).decision.state
  const shares = {
    rpm: shareOf(limits.rpm, remainingMinute, pods),
    rpd: shareOf(limits.rpd, remainingDay, pods),
  }
  const { next, decision } = decide(call, known.own, shares, nowMs)
  const state = { ...decision.state, limitMinute: limits.rpm, limitDay: limits.rpd }
  return { next: { seen: known.seen, own: next }, decision: { ...decision, state } }
}

/** A limit of 0 admits no request, also in an outage. */
function shareOf(limit: number, remaining: number, pods: number | undefined): number {
  if (limit <= 0) return 0
  if (pods === undefined) return 1
  return Math.max(1, Math.floor(Math.min(limit, remaining) / Math.max(1, pods)))
}
