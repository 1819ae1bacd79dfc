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
  type Endpoint,
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
    const id = call === 'poll' ? `${keyId} poll` : keyId
    const { next, decision } = decide(call, uses.get(id) ?? noUse, limits, clock.utcMs())
    if (call !== 'observe' && decision.outcome === 'admitted') uses.set(id, next)
    return decision
  }
  const count = async (
    call: 'admit' | 'poll',
    keyId: string,
    limits: RateLimits,
    endpoint: Endpoint,
  ): Promise<RateDecision> => {
    const decision = decideNow(call, keyId, limits)
    if (decision.outcome === 'admitted') usage.add(keyId, 'requests', endpoint)
    else usage.add(keyId, 'rate_limited')
    return decision
  }
  return {
    daysKept: usageDaysKept,
    admit: (keyId, limits, endpoint) => count('admit', keyId, limits, endpoint),
    poll: (keyId, limits, endpoint) => count('poll', keyId, limits, endpoint),
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
