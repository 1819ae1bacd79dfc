import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import { type Leases, leaseRenewMs } from '../../ports/lease.ts'

/** Whoever stands by asks so often: with what a lease lasts, well within the 15 s of a takeover. */
const leaseAskMs = 1_000
/** Without a word about the lease for so long, the collector is better off with another ingest. */
const leaseSilenceMs = 5_000

export interface Leading {
  /** Gives the epoch once this session leads; `undefined` when the signal aborted first. */
  readonly granted: Promise<number | undefined>
  /** After the signal aborted. */
  release(): Promise<void>
}

export interface LeadDeps {
  readonly leases: Leases
  readonly name: string
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** It was not granted at once: called once, before waiting. */
  readonly onWait: () => void
  /** Another one leads already: called once. While leases are away nobody knows. */
  readonly onTaken: () => void
  /** Nobody has said anything about the lease for `leaseSilenceMs`: it is asked for no more. */
  readonly onSilence: () => void
  /** Another one leads now: this one stood still for longer than a lease lasts. */
  readonly onLost: () => void
}

/**
 * Takes the lease of a feed, or waits for it, and renews it while the session lives. A store of
 * leases that does not answer takes the lead from nobody: only an answer of `false` does, which says that
 * another one leads. It gives it to nobody either: whoever waits is told of the silence.
 */
export function lead(deps: LeadDeps): Leading {
  const { leases, name, holder, clock, signal, onWait, onTaken, onSilence, onLost } = deps
  const calls = new Calls(deps)
  const granted = waitForGrant()

  async function waitForGrant(): Promise<number | undefined> {
    let isTold = false
    let answeredMs = clock.monotonicMs()
    for (let first = true; !signal.aborted; first = false) {
      const asked = leases.acquire(name, holder).then((given) => given ?? 'taken')
      const grant = await calls.answer(asked, 'taken')
      if (grant !== undefined) answeredMs = clock.monotonicMs()
      else if (clock.monotonicMs() - answeredMs >= leaseSilenceMs) {
        onSilence()
        return undefined
      }
      if (grant === 'taken') {
        if (!isTold) onTaken()
        isTold = true
      } else if (grant) {
        // The session died meanwhile: `release`, which waits for this, lets go of it.
        if (signal.aborted) return undefined
        void renew()
        return grant.epoch
      }
      if (first) onWait()
      await clock.sleep(leaseAskMs, signal)
    }
    return undefined
  }

  async function renew(): Promise<void> {
    let isHeld: boolean | undefined = true
    while (isHeld !== false) {
      // After an outage it asks as often as those who stand by, or one of them would be granted what lapsed.
      await clock.sleep(isHeld ? leaseRenewMs : leaseAskMs, signal)
      if (signal.aborted) return
      isHeld = await calls.answer(leases.renew(name, holder), 'renewed')
    }
    if (!signal.aborted) onLost()
  }

  return {
    granted,
    async release() {
      await granted
      await calls.answer(leases.release(name, holder), 'released')
    },
  }
}

class Calls {
  readonly #outage: OutageLog

  constructor(deps: Pick<LeadDeps, 'log' | 'clock'>) {
    this.#outage = new OutageLog(deps)
  }

  /** `undefined` too when there is no answer. */
  answer<T>(call: Promise<T>, what: 'taken' | 'renewed' | 'released'): Promise<T | undefined> {
    return call.then(
      (answer) => {
        this.#outage.worked('lease store available again')
        return answer
      },
      (cause: unknown) => {
        this.#outage.failed({ text: `lease store unavailable: a lease was not ${what}; retrying`, cause })
        return undefined
      },
    )
  }
}
