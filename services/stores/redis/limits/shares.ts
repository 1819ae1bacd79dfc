import type { RateCall, RateDecision, RateLimits } from '../../../core/keys/rate-window.ts'
import type { DailyCounters, Endpoint } from '../../../core/keys/usage.ts'
import type { Log } from '../../../platform/log/log.ts'
import { fromZero, type Metrics } from '../../../platform/metrics.ts'
import { NotCarriedOut, OutcomeUnknown } from '../link/outcomes.ts'
import { scripts } from '../scripts.ts'
import { OutageShare } from './outage-share.ts'
import { type Pending, PendingUsage } from './pending-usage.ts'
import type { Pods, PodsDeps } from './pods.ts'

export interface SharesDeps extends Pick<PodsDeps, 'connection' | 'calls' | 'keys' | 'givenTime'> {
  readonly pods: Pods
  readonly log: Log
  readonly metrics: Metrics
}

const sentAtOnceMax = 500

/** Decides by this pod's share while Redis is unavailable, and sends the counted usage to Redis afterwards. */
export class Shares {
  readonly #deps: SharesDeps
  readonly #share = new OutageShare()
  readonly #usage = new PendingUsage()
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
    metrics.counter(
      'fxd_limits_dropped_counts_total',
      'Usage counts that were dropped: too many waited for Redis, or the reply of Redis was lost.',
      [],
      (counter) => counter.inc(this.#usage.dropped),
    )
    connection.onReady(() => void this.#sendPending())
  }

  /** Redis answers, so usage that was rejected for a moment (too many calls) can be sent too. */
  answered(): void {
    if (!this.#usage.isEmpty) void this.#sendPending()
  }

  /** Usage that was certainly not counted is sent to Redis later; usage that may have been counted is not. */
  decide(
    call: RateCall,
    keyId: string,
    limits: RateLimits,
    endpoint: Endpoint,
    cause: unknown,
  ): RateDecision {
    const { pods } = this.#deps
    const nowMs = pods.nowMs()
    const decision = this.#share.decide(call, keyId, limits, nowMs, pods.count)
    this.#count(decision.outcome)
    if (cause instanceof OutcomeUnknown) return decision
    if (decision.outcome === 'refused') this.#usage.count(keyId, nowMs, ['rate_limited'])
    // The windows of polls begin again after an outage: what they allow is large, and memory answers polls.
    else this.#usage.count(keyId, nowMs, ['requests', endpoint], call === 'admit' ? 1 : 0)
    return decision
  }

  /** For calls that consume nothing. */
  count(keyId: string, name: keyof DailyCounters, cause: unknown): void {
    if (cause instanceof NotCarriedOut) this.#usage.count(keyId, this.#deps.pods.nowMs(), [name])
  }

  async #sendPending(): Promise<void> {
    if (this.#usage.isEmpty || this.#isSending) return
    this.#isSending = true
    const taken = this.#usage.take()
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
    const { calls, keys, givenTime } = this.#deps
    const { keyId, day, admitted, minute, admittedInMinute, counters } = pending
    const args = [givenTime(), day, admitted, minute, admittedInMinute, ...Object.entries(counters).flat()]
    try {
      await calls.script(scripts.addUsage, [keys.usage(keyId)], args)
    } catch (cause) {
      if (cause instanceof NotCarriedOut) this.#usage.putBack(pending)
      else this.#usage.drop(pending)
    }
  }
}
