import type { BarStore } from './bars.ts'
import type { Bus } from './bus.ts'
import type { FeedBoard } from './feed-board.ts'
import type { Leases } from './lease.ts'
import type { Limits } from './limits.ts'
import type { RegistryStore } from './registry.ts'
import type { Slots } from './slots.ts'
import type { UsageDays } from './usage-days.ts'
import type { WindowStore } from './windows.ts'

/** Everything a role may need from outside; each role takes the ports it uses. */
export interface Stores {
  readonly bars: BarStore
  readonly windows: WindowStore
  readonly registry: RegistryStore
  readonly limits: Limits
  readonly usageDays: UsageDays
  readonly slots: Slots
  readonly bus: Bus
  readonly leases: Leases
  readonly board: FeedBoard
  /** Flushes what is pending and frees everything; nothing may be called afterwards. */
  close(): Promise<void>
}
