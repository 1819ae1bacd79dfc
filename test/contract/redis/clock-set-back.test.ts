import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaseMs } from '../../../services/ports/lease.ts'
import { createVirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { freshPrefix, openInTest } from '../../support/redis/stores.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

/** Acquires a lease at noon, and returns how another process then acquires it at other times of Redis's clock. */
async function heldSinceNoon() {
  const noon = Date.UTC(2026, 0, 5, 12)
  const prefix = freshPrefix()
  const leasesAt = async (start: number) => {
    const { stores } = await openInTest({ url: server.url }, { prefix, time: createVirtualClock({ start }) })
    return stores.leases
  }
  const granted = await (await leasesAt(noon)).acquire('feed', 'ended')
  return { granted, acquireLater: async (ms: number) => (await leasesAt(noon + ms)).acquire('feed', 'next') }
}

test('after the clock of Redis went back by an hour, the lease of an ended process is granted with a greater epoch', async () => {
  const { granted, acquireLater } = await heldSinceNoon()
  const next = await acquireLater(-3_600_000)
  expect(next?.epoch).toBeGreaterThan(granted!.epoch)
})

test('after the clock of Redis went back by less than a lease, a held lease stays with its holder', async () => {
  const { acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-leaseMs + 1)).toBeUndefined()
})
