import type { Clock } from '../../ports/clock.ts'
import { type Leases, leaseMs } from '../../ports/lease.ts'
import type { Calls } from './calls.ts'
import type { Keys } from './keys.ts'
import { scripts } from './scripts.ts'

export interface LeaseDeps {
  readonly calls: Calls
  readonly keys: Keys
  readonly given: () => string
  readonly clock: Clock
}

interface Held {
  readonly holder: string
  readonly epoch: string
  /** On this process's monotonic clock, from before it was asked for: until then nobody else was granted it. */
  readonly lastsUntilMs: number
}

/** An epoch is Redis's time at the grant in microseconds, and exceeds all that this process has ever seen. */
export function redisLeases({ calls, keys, given, clock }: LeaseDeps): Leases {
  const held = new Map<string, Held>()
  let greatest = 0
  const keep = (name: string, holder: string, epoch: string, askedMs: number): void =>
    void held.set(name, { holder, epoch, lastsUntilMs: askedMs + leaseMs })

  return {
    async acquire(name, holder) {
      const askedMs = clock.monotonicMs()
      const args = [given(), holder, leaseMs, greatest]
      const epoch = await calls.script(scripts.acquireLease, [keys.lease(name)], args)
      if (epoch === null) return undefined
      keep(name, holder, String(epoch), askedMs)
      greatest = Math.max(greatest, Number(epoch))
      return { epoch: Number(epoch) }
    },
    async renew(name, holder) {
      const askedMs = clock.monotonicMs()
      const known = held.get(name)
      const lasts = known?.holder === holder && askedMs < known.lastsUntilMs
      const args = [given(), holder, leaseMs, lasts ? known.epoch : '']
      const isHeld = (await calls.script(scripts.renewLease, [keys.lease(name)], args)) === 1
      if (isHeld && lasts) keep(name, holder, known.epoch, askedMs)
      else if (!isHeld && known?.holder === holder) held.delete(name)
      return isHeld
    },
    async release(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name)
      await calls.script(scripts.releaseLease, [keys.lease(name)], [given(), holder])
    },
  }
}
