import { afterAll, beforeAll } from 'vitest'
import { silentLog } from '../../services/platform/log.ts'
import { createMetrics } from '../../services/platform/metrics.ts'
import { systemClock } from '../../services/platform/system-clock.ts'
import { openRedisStores, type RedisStores } from '../../services/stores/redis/open.ts'
import { slotHoldMs } from '../../services/stores/redis/slots.ts'
import { type RedisServer, startRedis } from '../support/redis/server.ts'
import { createVirtualClock, type VirtualClock } from '../support/virtual-clock.ts'
import { describeBus } from './bus.ts'
import { describeFeedBoard } from './feed-board.ts'
import { describeLeases } from './lease.ts'
import { describeLimits } from './limits.ts'
import type { Opened } from './opened.ts'
import { describeSlots } from './slots.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

let prefixes = 0

/** On the suite's clock instead of Redis's: time that a test moves on. */
async function openPrefix(prefix: string, clock: VirtualClock): Promise<Opened<keyof RedisStores>> {
  const stores = await openRedisStores({
    at: { url: server.url, sentinels: [], master: '' },
    prefix,
    admits: true,
    clock: systemClock,
    time: clock,
    log: silentLog,
    metrics: createMetrics({ ofProcess: false }),
  })
  return {
    stores,
    clock,
    close: () => stores.close(),
    // What is in Redis outlives a process however it ends.
    async reopen() {
      await stores.close()
      return openPrefix(prefix, clock)
    },
  }
}

/** New slots open some time after an empty Redis was found. */
async function open(start = Date.UTC(2026, 0, 5, 12)): Promise<Opened<keyof RedisStores>> {
  const clock = createVirtualClock({ start: start - slotHoldMs })
  const opened = await openPrefix(`contract${++prefixes}:`, clock)
  await clock.advance(slotHoldMs)
  return opened
}

const name = 'Redis'
describeLimits(name, open)
describeSlots(name, open)
describeLeases(name, open)
describeFeedBoard(name, open)
describeBus(name, open)
