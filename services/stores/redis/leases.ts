import { type Leases, leaseMs } from '../../ports/lease.ts'
import type { Keys } from './keys.ts'
import type { Calls } from './link/calls.ts'
import { scripts } from './scripts.ts'

/** An epoch is Redis's time at the grant in microseconds. It is greater than all that this process has seen. */
export function redisLeases(calls: Calls, keys: Keys, givenTime: () => string): Leases {
  const held = new Map<string, { readonly holder: string; readonly epoch: string }>()
  let greatest = 0

  return {
    async acquire(name, holder) {
      const args = [givenTime(), holder, leaseMs, greatest]
      const epoch = await calls.script(scripts.acquireLease, [keys.lease(name)], args)
      if (epoch === null) return undefined
      held.set(name, { holder, epoch: String(epoch) })
      greatest = Math.max(greatest, Number(epoch))
      return { epoch: Number(epoch) }
    },
    async renew(name, holder) {
      const known = held.get(name)
      const epoch = known?.holder === holder ? known.epoch : ''
      const args = [givenTime(), holder, leaseMs, epoch]
      const isHeld = (await calls.script(scripts.renewLease, [keys.lease(name)], args)) === 1
      if (!isHeld && known?.holder === holder) held.delete(name)
      return isHeld
    },
    async release(name, holder) {
      if (held.get(name)?.holder === holder) held.delete(name)
      await calls.script(scripts.releaseLease, [keys.lease(name)], [givenTime(), holder])
    },
  }
}
