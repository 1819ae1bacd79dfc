import { utcMs } from '../../../core/clocks/feed-clock.ts'
import {
  decisionOf,
  type RateCall,
  type RateDecision,
  type RateLimits,
} from '../../../core/keys/rate-window.ts'
import {
  counterNames,
  type DailyCounters,
  type Day,
  type Endpoint,
  noCounters,
} from '../../../core/keys/usage.ts'
import type { Limits } from '../../../ports/limits.ts'
import { scripts } from '../scripts.ts'
import { dayOfNumber } from './day-numbers.ts'
import { Shares, type SharesDeps } from './shares.ts'

/** Days of usage in Redis: `lua/prelude.lua` sets their expiry, `lua/read-usage.lua` returns them. */
const daysKept = 3
const exceededWindows = [undefined, 'minute', 'day'] as const
type Admitted = [
  exceeded: 0 | 1 | 2,
  minute: number,
  usedMinute: number,
  day: number,
  usedDay: number,
  ms: number,
]

/** One script changes both windows and the counters. While Redis is unavailable this pod decides by its share. */
export function redisLimits(deps: SharesDeps): Limits {
  const { calls, keys, givenTime, pods } = deps
  const shares = new Shares(deps)

  const decide = async (
    call: RateCall,
    keyId: string,
    limits: RateLimits,
    endpoint: Endpoint,
  ): Promise<RateDecision> => {
    try {
      const args = [givenTime(), call, endpoint, limits.rpm, limits.rpd]
      const reply = await calls.script(scripts.admit, [keys.usage(keyId)], args)
      const [exceeded, minute, usedMinute, day, usedDay, ms] = reply as Admitted
      const nowMs = utcMs(ms)
      const use = { minute, usedMinute, day, usedDay }
      shares.answered()
      pods.noteTime(nowMs)
      return decisionOf(use, limits, nowMs, exceededWindows[exceeded])
    } catch (cause) {
      return shares.decide(call, keyId, limits, endpoint, cause)
    }
  }

  return {
    daysKept,
    admit: (keyId, limits, endpoint) => decide('admit', keyId, limits, endpoint),
    poll: (keyId, limits, endpoint) => decide('poll', keyId, limits, endpoint),
    observe: async (keyId, limits, endpoint) => (await decide('observe', keyId, limits, endpoint)).state,
    async countRefusedUpgrade(keyId) {
      const args = [givenTime(), '', 0, 0, 0, 'rate_limited', 1]
      await calls
        .script(scripts.addUsage, [keys.usage(keyId)], args)
        .catch((cause: unknown) => shares.count(keyId, 'rate_limited', cause))
    },
    async usage(keyId, first, last) {
      const reply = await calls.script(scripts.readUsage, [keys.usage(keyId)], [givenTime()])
      const [today, ...days] = reply as [number, ...string[][]]
      const usage = new Map<Day, DailyCounters>()
      // The answer has the newest day first, the result the oldest.
      for (let ago = days.length - 1; ago >= 0; ago--) {
        const day = dayOfNumber(today - ago)
        const counters = countersOf(days[ago] ?? [])
        if (counters && day >= first && day <= last) usage.set(day, counters)
      }
      return usage
    },
  }
}

/** From alternating names and values; `undefined` without any counter. */
function countersOf(fields: readonly string[]): DailyCounters | undefined {
  const found: Partial<Record<keyof DailyCounters, number>> = {}
  fields.forEach((name, i) => {
    const counter = i % 2 === 0 ? counterNames.find((each) => each === name) : undefined
    if (counter) found[counter] = Number(fields[i + 1])
  })
  return Object.keys(found).length === 0 ? undefined : { ...noCounters, ...found }
}
