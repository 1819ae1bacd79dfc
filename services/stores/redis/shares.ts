import type { RateCall, RateDecision, RateLimits, RateUse } from '../../core/keys/rate-window.ts'
import type { DailyCounters, Endpoint } from '../../core/keys/usage.ts'
import type { Log } from '../../platform/log/log.ts'
import { fromZero, type Metrics } from '../../platform/metrics.ts'
import type { Calls } from './calls.ts'
import type { Connection } from './connection.ts'
import type { Keys } from './keys.ts'
import { OutageMemory, type Pending } from './outage-memory.ts'
import { NotCarriedOut, OutcomeUnknown } from './outcomes.ts'
import type { Pods } from './pods.ts'
import { scripts } from './scripts.ts'

export interface SharesDeps {
  readonly connection: Connection
  readonly calls: Calls
  readonly keys: Keys
  readonly given: () => string
  readonly pods: Pods
  readonly log: Log
  readonly metrics: Metrics
}

/** A request that Redis did not decide, and the reason. */
export interface Undecided {
  readonly keyId: string
  readonly limits: RateLimits
  readonly endpoint: Endpoint
  readonly call: RateCall
  readonly cause: unknown
}

const sentAtOnceMax = 500

/** Decides by this pod's share while Redis is unavailable, and sends the counted usage to Redis afterwards. */
export class Shares {
  readonly #deps: SharesDeps
  readonly #memory = new OutageMemory()
  #isSending = false
  readonly #count: (outcome: RateDecision['outcome']) => void

  constructor(deps: SharesDeps) {
    this.#deps = deps
    const { metrics, connection } = deps
    const decided = fromZero(
      metrics.counter('fxd_limits_by_share_total', 'Rate decisions without Redis, by outcome.', ['outcome']),
      'outcome',
      ['admitted', 'refused'],
    )
    this.#count = (outcome) => decided.inc({ outcome })
    metrics.gauge('fxd_limits_remembered_keys', 'Keys whose windows are remembered.', [], (gauge) =>
      gauge.set(this.#memory.keys),
    )
    metrics.counter(
      'fxd_limits_dropped_counts_total',
      'Usage counts that were dropped: too many waited for Redis, or the reply of Redis was lost.',
      [],
      (counter) => counter.inc(this.#memory.dropped),
    )
    connection.onReady(() => void this.#sendPending())
  }

  /** Notes the windows of a key as Redis just reported them. */
  see(keyId: string, use: RateUse): void {
    this.#memory.see(keyId, use)
    // Redis answers, so usage that was rejected for a moment (too many calls) can be sent too.
    if (this.#memory.hasPending) void this.#sendPending()
  }

  /** Usage that was certainly not counted is sent to Redis later; usage that may have been counted is not. */
  decide({ call, keyId, limits, endpoint, cause }: Undecided): RateDecision {
    const { pods } = this.#deps
    const nowMs = pods.nowMs()
    const decision = this.#memory.decide(call, keyId, limits, nowMs, pods.count)
    this.#count(decision.outcome)
    if (cause instanceof OutcomeUnknown) return decision
    if (decision.outcome === 'refused') this.#memory.count(keyId, nowMs, ['rate_limited'])
    else this.#memory.count(keyId, nowMs, ['requests', endpoint], call === 'admit' ? 1 : 0)
    return decision
  }

  /** For calls that consume nothing. */
  count(keyId: string, name: keyof DailyCounters, cause: unknown): void {
    if (cause instanceof NotCarriedOut) this.#memory.count(keyId, this.#deps.pods.nowMs(), [name])
  }

  async #sendPending(): Promise<void> {
    if (!this.#memory.hasPending || this.#isSending) return
    this.#isSending = true
    const taken = this.#memory.takePending()
    this.#deps.log.info(
      { counts: taken.length },
      'Redis available again: adding the usage counted without it',
    )
    for (let i = 0; i < taken.length; i += sentAtOnceMax)
      await Promise.all(taken.slice(i, i + sentAtOnceMax).map((pending) => this.#send(pending)))
    this.#isSending = false
  }

  /** Adds to the usage, and to the windows that are still open. */
  async #send(pending: Pending): Promise<void> {
    const { calls, keys, given } = this.#deps
    const { keyId, day, admitted, minute, admittedInMinute, counters } = pending
    const args = [given(), day, admitted, minute, admittedInMinute, ...Object.entries(counters).flat()]
    try {
      await calls.script(scripts.addUsage, [keys.usage(keyId)], args)
    } catch (cause) {
      if (cause instanceof NotCarriedOut) this.#memory.putBack(pending)
      else this.#memory.drop(pending)
    }
  }
}
