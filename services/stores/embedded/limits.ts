import { serviceReader } from '../../core/fair-queue.ts'
import {
  decide,
  noUse,
  type RateCall,
  type RateDecision,
  type RateLimits,
} from '../../core/keys/rate-window.ts'
import {
  type DailyCounters,
  type Day,
  greaterCounters,
  noCounters,
  usageDaysKept,
} from '../../core/keys/usage.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Limits } from '../../ports/limits.ts'
import type { Memory } from './memory/memory.ts'
import type { Readers } from './threads/readers.ts'

/** One process decides alone, within one turn of the event loop, so every step is exact. */
export function embeddedLimits({ usage, uses }: Memory, readers: Readers, clock: Clock): Limits {
  const decideNow = (call: RateCall, keyId: string, limits: RateLimits): RateDecision => {
    const { next, decision } = decide(call, uses.get(keyId) ?? noUse, limits, clock.utcMs())
    if (call === 'admit' && decision.outcome === 'admitted') uses.set(keyId, next)
    return decision
  }
  return {
    daysKept: usageDaysKept,
    async admit(keyId, limits, endpoint) {
      const decision = decideNow('admit', keyId, limits)
      if (decision.outcome === 'admitted') usage.add(keyId, 'requests', endpoint)
      else usage.add(keyId, 'rate_limited')
      return decision
    },
    async observe(keyId, limits, endpoint) {
      usage.add(keyId, 'requests', endpoint)
      return decideNow('observe', keyId, limits).state
    },
    async countRefusedUpgrade(keyId) {
      usage.add(keyId, 'rate_limited')
    },
    async usage(keyId, first, last) {
      // Memory is read before the file. Otherwise a day that moves from memory to the file could be missed.
      const inMemory = usage.ofKey(keyId, first, last)
      const stored = await readers.call('usage', { keyId, first, last }, serviceReader(keyId))
      const found = new Map<Day, DailyCounters>(stored.map(({ day, counters }) => [day, counters]))
      // After the clock was wrong the file may have more than memory: see `memoryUpserts`.
      for (const { day, counters } of inMemory)
        found.set(day, greaterCounters(found.get(day) ?? noCounters, counters))
      return found
    },
  }
}
