import type { Clock } from '../../ports/clock.ts'
import { type Leases, leaseMs } from '../../ports/lease.ts'

interface Lease {
  readonly holder: string
  readonly epoch: number
  /** On the monotonic clock, which no hand sets. */
  lapsesAtMs: number
}

/** Room for so many grants per opening of the file before an epoch could meet one of the next opening. */
const grantsPerOpening = 2 ** 31

/** `opening` counts the openings of the file: with it an epoch outgrows those of every earlier run. */
export function embeddedLeases(opening: number, clock: Clock): Leases {
  const leases = new Map<string, Lease>()
  let granted = 0
  const heldBy = (name: string): Lease | undefined => {
    const lease = leases.get(name)
    return lease && lease.lapsesAtMs > clock.monotonicMs() ? lease : undefined
  }

  return {
    async acquire(name, holder) {
      const held = heldBy(name)
      if (held && held.holder !== holder) return undefined
      granted += 1
      const epoch = held?.epoch ?? opening * grantsPerOpening + granted
      leases.set(name, { holder, epoch, lapsesAtMs: clock.monotonicMs() + leaseMs })
      return { epoch }
    },
    async renew(name, holder) {
      const held = heldBy(name)
      if (held?.holder !== holder) return false
      held.lapsesAtMs = clock.monotonicMs() + leaseMs
      return true
    },
    async release(name, holder) {
      if (heldBy(name)?.holder === holder) leases.delete(name)
    },
  }
}
