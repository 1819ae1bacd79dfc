import type { Clock } from '../../ports/clock.ts'
import { type Leases, leaseMs } from '../../ports/lease.ts'

interface Lease {
  readonly holder: string
  readonly epoch: number
  /** On the monotonic clock, which no operator can set. */
  lapsesAtMs: number
}

/** Maximum grants per opening of the file: more could repeat an epoch of the next opening. */
const grantsPerOpening = 2 ** 31

/** `opening` counts the openings of the file: it makes every epoch greater than those of earlier runs. */
export function embeddedLeases(opening: number, clock: Clock): Leases {
  const leases = new Map<string, Lease>()
  let granted = 0

  return {
    async acquire(name, holder) {
      const lease = leases.get(name)
      const now = clock.monotonicMs()
      if (lease && lease.holder !== holder && lease.lapsesAtMs > now) return undefined
      granted += 1
      const epoch = lease?.holder === holder ? lease.epoch : opening * grantsPerOpening + granted
      leases.set(name, { holder, epoch, lapsesAtMs: now + leaseMs })
      return { epoch }
    },
    async renew(name, holder) {
      const lease = leases.get(name)
      if (lease?.holder !== holder) return false
      lease.lapsesAtMs = clock.monotonicMs() + leaseMs
      return true
    },
    async release(name, holder) {
      if (leases.get(name)?.holder === holder) leases.delete(name)
    },
  }
}
