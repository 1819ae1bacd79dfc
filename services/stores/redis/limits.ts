import { decisionOf, type RateDecision, type RateLimits, type RateUse } from '../../core/rate-window.ts'
import { counterNames, type DailyCounters, type Day, type Endpoint, noCounters } from '../../core/usage.ts'
import type { Log } from '../../platform/log.ts'
import type { Metrics } from '../../platform/metrics.ts'
import type { Limits } from '../../ports/limits.ts'
import type { Calls } from './calls.ts'
import type { Connection } from './connection.ts'
import { dayOfNumber } from './day-numbers.ts'
import type { Keys } from './keys.ts'
import { OutageMemory, type Pending } from './outage-memory.ts'
import { NotCarriedOut, OutcomeUnknown } from './outcomes.ts'
import type { Pods } from './pods.ts'
import { scripts } from './scripts.ts'

export interface LimitsDeps {
  readonly connection: Connection
  readonly calls: Calls
  readonly keys: Keys
  readonly given: () => string
  readonly pods: Pods
  readonly log: Log
  readonly metrics: Metrics
}

type Ask = 'admit' | 'observe'
/** As `lua/prelude.lua` keeps them and `lua/read-usage.lua` gives them. */
const daysKept = 3
const exceededWindows = [undefined, 'minute', 'day'] as const

/** Both windows and the counters move in one script; while Redis is away this pod decides by its share. */
export function redisLimits(deps: LimitsDeps): Limits {
  const { connection, calls, keys, given, pods, metrics } = deps
  const memory = new OutageMemory()
  const shares = metrics.counter('fxd_limits_by_share_total', 'Requests decided without Redis.', ['outcome'])
  metrics.gauge('fxd_limits_remembered_keys', 'Keys whose windows are remembered.', [], (gauge) =>
    gauge.set(memory.keys),
  )
  metrics.counter('fxd_limits_dropped_counts_total', 'Usage that never reached Redis.', [], (counter) =>
    counter.inc(memory.dropped),
  )
  connection.onReady(() => void bringPending(deps, memory))

  const ask = async (
    how: Ask,
    keyId: string,
    limits: RateLimits,
    endpoint: Endpoint,
  ): Promise<RateDecision> => {
    const args = [given(), how, endpoint, limits.rpm, limits.rpd]
    const reply = await calls.script(scripts.admit, [keys.usage(keyId)], args)
    const [exceeded, minute, usedMinute, day, usedDay, nowMs] = reply as FixedReply
    const use: RateUse = { minute, usedMinute, day, usedDay }
    memory.see(keyId, use)
    pods.noteTime(nowMs)
    return decisionOf(use, limits, nowMs, exceededWindows[exceeded])
  }
  /** What certainly was not counted is brought when Redis is back; what may have been is not counted again. */
  const byShare = (
    how: Ask,
    keyId: string,
    limits: RateLimits,
    request: { readonly endpoint: Endpoint; readonly cause: unknown },
  ): RateDecision => {
    const nowMs = pods.nowMs()
    const consume = how === 'admit'
    const decision = memory.decide(keyId, limits, nowMs, { pods: pods.count, consume })
    shares.inc({ outcome: decision.outcome })
    if (request.cause instanceof OutcomeUnknown) return decision
    if (decision.outcome === 'refused') memory.count(keyId, nowMs, ['rate_limited'])
    else memory.count(keyId, nowMs, ['requests', request.endpoint], consume ? 1 : 0)
    return decision
  }
  const decide = async (how: Ask, keyId: string, limits: RateLimits, endpoint: Endpoint) => {
    try {
      return await ask(how, keyId, limits, endpoint)
    } catch (cause) {
      return byShare(how, keyId, limits, { endpoint, cause })
    }
  }

  return {
    daysKept,
    admit: (keyId, limits, endpoint) => decide('admit', keyId, limits, endpoint),
    observe: async (keyId, limits, endpoint) => (await decide('observe', keyId, limits, endpoint)).state,
    async countRefusedUpgrade(keyId) {
      const nowMs = pods.nowMs()
      try {
        await calls.script(scripts.addUsage, [keys.usage(keyId)], [given(), '', 0, 0, 0, 'rate_limited', 1])
      } catch (cause) {
        if (cause instanceof NotCarriedOut) memory.count(keyId, nowMs, ['rate_limited'])
      }
    },
    async usage(keyId, first, last) {
      const reply = await calls.script(scripts.readUsage, [keys.usage(keyId)], [given()])
      const [today, ...days] = reply as [number, ...string[][]]
      // Oldest first.
      const entries = days.map((fields, ago) => [dayOfNumber(today - ago), countersOf(fields)] as const)
      return new Map<Day, DailyCounters>(
        entries
          .toReversed()
          .flatMap(([day, counters]) =>
            counters && day >= first && day <= last ? [[day, counters] as const] : [],
          ),
      )
    },
  }
}

type FixedReply = [0 | 1 | 2, number, number, number, number, number]

/** From alternating names and values; `undefined` when nothing of it is a counter. */
export function countersOf(fields: readonly string[]): DailyCounters | undefined {
  const found: Partial<Record<keyof DailyCounters, number>> = {}
  fields.forEach((name, i) => {
    const counter = i % 2 === 0 ? counterNames.find((each) => each === name) : undefined
    if (counter) found[counter] = Number(fields[i + 1])
  })
  return Object.keys(found).length === 0 ? undefined : { ...noCounters, ...found }
}

/** Adds to Redis what was decided without it: to the usage, and to the windows that are still open. */
async function bringPending({ calls, keys, given, log }: LimitsDeps, memory: OutageMemory): Promise<void> {
  if (!memory.hasPending) return
  const taken = memory.takePending()
  log.info({ keys: taken.length }, 'Redis is back: what was counted without it is added')
  const bring = async (pending: Pending): Promise<void> => {
    const { keyId, day, admitted, minute, admittedInMinute, counters } = pending
    const counts = Object.entries(counters).flat()
    const args = [given(), day, admitted, minute, admittedInMinute, ...counts]
    try {
      await calls.script(scripts.addUsage, [keys.usage(keyId)], args)
    } catch (cause) {
      if (cause instanceof NotCarriedOut) memory.putBack(pending)
      else memory.drop(pending)
    }
  }
  for (let i = 0; i < taken.length; i += broughtAtOnce)
    await Promise.all(taken.slice(i, i + broughtAtOnce).map(bring))
}

const broughtAtOnce = 500
