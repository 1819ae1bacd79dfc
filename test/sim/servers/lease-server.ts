import type { Clock } from '../../../services/ports/clock.ts'
import { type Granted, type Leases, leaseMs } from '../../../services/ports/lease.ts'

interface Lease {
  readonly holder: string
  readonly epoch: number
  /** 0 after a release. */
  untilMs: number
}

/** Leases with the rules of the Redis scripts. After all were lost, a holder that renews writes its own lease again. */
export class LeaseServer {
  readonly #clock: Clock
  readonly #leases = new Map<string, Lease>()
  #greatest = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  forget(): void {
    this.#leases.clear()
  }

  acquire(name: string, holder: string): Granted | undefined {
    const now = this.#clock.monotonicMs()
    const known = this.#leases.get(name)
    const isOwn = known?.holder === holder && known.untilMs !== 0
    if (!isOwn && known && known.untilMs > now) return undefined
    // Redis derives the epoch from its clock, so epochs keep growing after a loss of all leases.
    const epoch = isOwn ? known.epoch : ++this.#greatest
    this.#leases.set(name, { holder, epoch, untilMs: now + leaseMs })
    return { epoch }
  }

  renew(name: string, holder: string, granted: number | undefined): boolean {
    const known = this.#leases.get(name)
    const isLater = granted !== undefined && (known?.epoch ?? 0) < granted
    if (!isLater && (known?.holder !== holder || known.untilMs === 0)) return false
    const epoch = isLater ? granted : (known?.epoch ?? 0)
    this.#leases.set(name, { holder, epoch, untilMs: this.#clock.monotonicMs() + leaseMs })
    return true
  }

  release(name: string, holder: string): void {
    const known = this.#leases.get(name)
    if (known?.holder === holder) known.untilMs = 0
  }
}

/** The port for one process, which remembers its granted epochs. `ask` sends a call over the network. */
export function leasesOver(server: LeaseServer, ask: <T>(what: string, run: () => T) => Promise<T>): Leases {
  const grants = new Map<string, { readonly holder: string; readonly epoch: number }>()
  return {
    async acquire(name, holder) {
      const granted = await ask('acquire', () => server.acquire(name, holder))
      if (granted) grants.set(name, { holder, ...granted })
      return granted
    },
    async renew(name, holder) {
      const known = grants.get(name)
      const epoch = known?.holder === holder ? known.epoch : undefined
      const isHeld = await ask('renew', () => server.renew(name, holder, epoch))
      if (!isHeld && epoch !== undefined) grants.delete(name)
      return isHeld
    },
    async release(name, holder) {
      if (grants.get(name)?.holder === holder) grants.delete(name)
      await ask('release', () => server.release(name, holder))
    },
  }
}
