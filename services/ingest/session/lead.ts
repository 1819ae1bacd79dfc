import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Leases, leaseRenewMs } from '../../ports/lease.ts'

/** Interval at which a standby requests the lease. With the lease's 10 s, a takeover stays below 15 s. */
const leaseRequestMs = 1_000
/** Maximum time without an answer about the lease; after it the collector should try another ingest. */
const leaseSilenceMs = 5_000

/** The name of the lease whose holder alone writes live bars of the feed. */
const leaseOf = (feed: FeedKey): string => `feed ${feed}`

export interface Leadership {
  /** Resolves with the epoch once this session leads, or with `undefined` if the signal aborted first. */
  readonly granted: Promise<number | undefined>
  /** Releases the lease. Call it after the signal aborted. */
  release(): Promise<void>
}

export interface LeadDeps {
  readonly leases: Leases
  readonly feed: FeedKey
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Called once, before waiting, if the lease was not granted at once. */
  readonly onWait?: () => void
  /** Called once when another session is known to lead. Not called while the lease store is unavailable. */
  readonly onTaken: () => void
  /** Called after `leaseSilenceMs` without an answer; the lease is no longer requested. */
  readonly onSilence?: () => void
  /** Called when another session leads now: this process paused for longer than the lease lasts. */
  readonly onLost?: () => void
}

/**
 * Acquires the lease of a feed, or waits for it, and renews it until the session ends. While the lease store
 * does not answer, a leader keeps leading: only the answer `false` means that another session leads. A
 * session that waits stops waiting: `onSilence` is called.
 */
export function lead(deps: LeadDeps): Leadership {
  const { leases, holder, clock, signal, onWait, onTaken, onSilence, onLost } = deps
  const name = leaseOf(deps.feed)
  const calls = new LeaseCalls(deps)
  const granted = waitForGrant()

  async function waitForGrant(): Promise<number | undefined> {
    let isReported = false
    let answeredMs = clock.monotonicMs()
    for (let first = true; !signal.aborted; first = false) {
      const requested = leases.acquire(name, holder).then((given) => given ?? 'taken')
      const grant = await calls.answer(requested, 'acquire')
      if (grant !== undefined) answeredMs = clock.monotonicMs()
      else if (clock.monotonicMs() - answeredMs >= leaseSilenceMs) {
        onSilence?.()
        return undefined
      }
      if (grant === 'taken') {
        if (!isReported) onTaken()
        isReported = true
      } else if (grant) {
        // The session ended meanwhile: `release`, which waits for this, releases the lease.
        if (signal.aborted) return undefined
        void renew()
        return grant.epoch
      }
      if (first) onWait?.()
      await clock.sleep(leaseRequestMs, signal)
    }
    return undefined
  }

  async function renew(): Promise<void> {
    let isHeld: boolean | undefined = true
    while (isHeld !== false) {
      // After an outage a leader renews as often as a standby requests, or a standby would get the expired lease.
      await clock.sleep(isHeld ? leaseRenewMs : leaseRequestMs, signal)
      if (signal.aborted) return
      isHeld = await calls.answer(leases.renew(name, holder), 'renew')
    }
    if (!signal.aborted) onLost?.()
  }

  return {
    granted,
    async release() {
      await granted
      await calls.answer(leases.release(name, holder), 'release')
    },
  }
}

class LeaseCalls {
  readonly #outage: OutageLog

  constructor(deps: Pick<LeadDeps, 'log' | 'clock'>) {
    this.#outage = new OutageLog(deps)
  }

  /** Resolves with `undefined` too when the call failed. Never rejects. */
  answer<T>(call: Promise<T>, action: 'acquire' | 'renew' | 'release'): Promise<T | undefined> {
    return call.then(
      (answer) => {
        this.#outage.worked('lease store available again')
        return answer
      },
      (cause: unknown) => {
        const why = `failed to ${action} a lease`
        this.#outage.failed({ text: 'lease store unavailable; retrying', why, cause })
        return undefined
      },
    )
  }
}
