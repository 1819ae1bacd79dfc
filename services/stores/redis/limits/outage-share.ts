import { dayMs, minuteMs } from '../../../core/clocks/calendar.ts'
import type { UtcMs } from '../../../core/clocks/feed-clock.ts'
import {
  decisionOf,
  type RateCall,
  type RateDecision,
  type RateLimits,
} from '../../../core/keys/rate-window.ts'

/** Redis may answer at any moment, so a refused client waits no longer than this. */
const retrySecondsMax = 2

/**
 * Decides without Redis: in each UTC minute this process admits its share of a key's limit, `max(1, floor(limit / pods))`.
 * The day is not judged; its whole limit is shown as remaining.
 */
export class OutageShare {
  #minute = 0
  /** Requests of each key that were admitted in the minute. */
  #used = new Map<string, number>()

  decide(call: RateCall, keyId: string, limits: RateLimits, nowMs: UtcMs, pods: number): RateDecision {
    const minute = Math.floor(nowMs / minuteMs)
    if (minute !== this.#minute) this.#used = new Map()
    this.#minute = minute
    const share = Math.max(1, Math.floor(limits.rpm / pods))
    const id = call === 'poll' ? `${keyId} poll` : keyId
    const before = this.#used.get(id) ?? 0
    const isFull = before >= share
    const usedMinute = call !== 'observe' && !isFull ? before + 1 : before
    this.#used.set(id, usedMinute)
    const use = { minute, usedMinute, day: Math.floor(nowMs / dayMs), usedDay: 0 }
    const exceeded = call !== 'observe' && isFull ? 'minute' : undefined
    const decision = decisionOf(use, { ...limits, rpm: share }, nowMs, exceeded)
    const state = { ...decision.state, limitMinute: limits.rpm }
    if (decision.outcome === 'admitted') return { ...decision, state }
    const retryAfterSeconds = Math.min(retrySecondsMax, decision.retryAfterSeconds)
    return { ...decision, state, share, retryAfterSeconds }
  }
}
