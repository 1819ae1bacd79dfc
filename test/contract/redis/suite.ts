import { silentLog } from '../../../services/platform/log/log.ts'
import { createMetrics } from '../../../services/platform/metrics.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { prepareRedisStores, type RedisStores } from '../../../services/stores/redis/open.ts'
import type { RedisAt } from '../../../services/stores/redis/options.ts'
import { connected } from '../../support/connected.ts'
import { createVirtualClock, type VirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { advanceWithinReach, freshPrefix } from '../../support/redis/stores.ts'
import { describeBus } from '../suites/bus.ts'
import { describeFeedBoard } from '../suites/feed-board.ts'
import { describeLeases } from '../suites/lease.ts'
import { describeLimits } from '../suites/limits.ts'
import type { Opened } from '../suites/opened.ts'
import { describeSlots } from '../suites/slots.ts'

/** Runs the contracts of all Redis adapters. `at` returns the address of Redis; it is called inside tests. */
export function describeRedis(name: string, at: () => RedisAt): void {
  /** Uses the clock of the test instead of that of Redis, so that a test can advance it. */
  async function openPrefix(prefix: string, clock: VirtualClock): Promise<Opened<keyof RedisStores>> {
    const metrics = createMetrics({ ofProcess: false })
    const shared = { prefix, admits: true, pods: 1, clock: systemClock, time: clock, log: silentLog, metrics }
    const stores = await connected(prepareRedisStores({ at: at(), ...shared }))
    return {
      stores,
      clock,
      close: () => stores.close(),
      // The data in Redis survives every end of a process.
      async reopen() {
        await stores.close()
        return openPrefix(prefix, clock)
      },
    }
  }

  /** After an empty Redis was found, new slots open only after `slotHoldMs`. */
  async function open(start = Date.UTC(2026, 0, 5, 12)): Promise<Opened<keyof RedisStores>> {
    const clock = createVirtualClock({ start: start - slotHoldMs })
    const opened = await openPrefix(freshPrefix(), clock)
    await advanceWithinReach(opened.stores.slots, clock, slotHoldMs)
    return opened
  }

  /** Advances the clock with regular requests for slots, as running shards send them. */
  async function openWithinReach(start?: number): Promise<Opened<keyof RedisStores>> {
    const opened = await open(start)
    const { stores, clock } = opened
    const advance = (ms: number): Promise<void> => advanceWithinReach(stores.slots, clock, ms)
    return { ...opened, clock: { utcMs: clock.utcMs, advance } }
  }

  describeLimits(name, open)
  describeSlots(name, openWithinReach)
  describeLeases(name, open)
  describeFeedBoard(name, open)
  describeBus(name, open)
}
