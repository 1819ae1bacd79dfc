export interface Granted {
  /** Greater than every epoch granted for this name before. */
  readonly epoch: number
}

/**
 * At most one holder per name. Contract (test/contract/suites/lease.ts):
 *  - `acquire` grants when the lease is free, expired or already this holder's (same epoch), else `undefined`;
 *  - a lease that is not renewed for `leaseMs` expires, and another holder may acquire it. Until then
 *    the old holder may still renew the lease under the same epoch, so an outage of the lease store loses no
 *    lease;
 *  - `release` by another holder changes nothing.
 */
export interface Leases {
  acquire(name: string, holder: string): Promise<Granted | undefined>
  /** `false` when the lease is no longer this holder's. */
  renew(name: string, holder: string): Promise<boolean>
  release(name: string, holder: string): Promise<void>
}

export const leaseMs = 10_000
export const leaseRenewMs = 3_000
