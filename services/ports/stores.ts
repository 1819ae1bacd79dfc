import type { BarStore } from './bars.ts'
import type { Bus } from './bus.ts'
import type { FeedBoard } from './feed-board.ts'
import type { Leases } from './lease.ts'
import type { Limits } from './limits.ts'
import type { RegistryStore } from './registry.ts'
import type { Slots } from './slots.ts'
import type { StoreIdentity } from './store-identity.ts'
import type { StoreTables } from './store-tables.ts'
import type { UsageDays } from './usage-days.ts'
import type { WindowStore } from './windows.ts'

export interface Stores {
  readonly bars: BarStore
  readonly windows: WindowStore
  /** `undefined`: the store is one file. */
  readonly tables?: StoreTables
  readonly registry: RegistryStore
  readonly limits: Limits
  readonly usageDays: UsageDays
  readonly slots: Slots
  readonly bus: Bus
  readonly leases: Leases
  readonly board: FeedBoard
  /** Absent on the embedded store, whose folder has one owner. */
  readonly identity?: StoreIdentity
  /** Writes what is pending and frees all resources; no call is allowed afterwards. */
  close(): Promise<void>
}
