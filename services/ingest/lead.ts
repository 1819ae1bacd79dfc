import type { Log } from '../platform/log.ts'
import type { Clock } from '../ports/clock.ts'
import { type Leases, leaseRenewMs } from '../ports/lease.ts'

/** Whoever stands by asks so often: with what a lease lasts, well within the 15 s of a takeover. */
const leaseAskMs = 1_000

export interface Leading {
  /** Gives the epoch once this session leads; `undefined` when the signal aborted first. */
  readonly granted: Promise<number | undefined>
  /** After the signal aborted. */
  release(): Promise<void>
}

export interface LeadOptions {
  readonly leases: Leases
  readonly name: string
  readonly holder: string
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Another one leads already: called once, before waiting. */
  readonly onWait: () => void
  /** Another one leads now: this one stood still for longer than a lease lasts. */
  readonly onLost: () => void
}

/**
 * Takes the lease of a feed, or waits for it, and renews it while the session lives. A store of
 * leases that does not answer takes the lead from nobody: only an answer of `false` does.
 */
export function lead(options: LeadOptions): Leading {
  const { leases, name, holder, clock, log, signal, onWait, onLost } = options
  const granted = waitForGrant()

  async function waitForGrant(): Promise<number | undefined> {
    let isAway = false
    for (let first = true; !signal.aborted; first = false) {
      const grant = await leases.acquire(name, holder).then(
        (answer) => {
          isAway = false
          return answer
        },
        (cause: unknown) => {
          if (!isAway) log.warn({ err: cause }, 'leases cannot be taken now; asking again')
          isAway = true
          return undefined
        },
      )
      if (grant) {
        // The session died meanwhile: `release`, which waits for this, lets go of it.
        if (signal.aborted) return undefined
        renew()
        return grant.epoch
      }
      if (first) onWait()
      await clock.sleep(leaseAskMs, signal)
    }
    return undefined
  }

  function renew(): void {
    const stop = clock.every(leaseRenewMs, () => {
      leases.renew(name, holder).then(
        (held) => {
          if (held || signal.aborted) return
          stop()
          onLost()
        },
        (cause: unknown) => log.warn({ err: cause }, 'the lease could not be renewed'),
      )
    })
    signal.addEventListener('abort', stop)
  }

  return {
    granted,
    async release() {
      await granted
      await leases
        .release(name, holder)
        .catch((cause: unknown) => log.warn({ err: cause }, 'the lease could not be released'))
    },
  }
}
