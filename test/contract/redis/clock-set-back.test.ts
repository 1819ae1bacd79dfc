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
  const acquireLater = async (ms: number, holder = 'next') =>
    (await leasesAt(noon + ms)).acquire('feed', holder)
  return { granted, acquireLater }
}

test('after the clock of Redis went back by an hour, the lease of an ended process is granted one lease after a request', async () => {
  const { granted, acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-3_600_000)).toBeUndefined()
  expect(await acquireLater(-3_600_000 + leaseMs - 1)).toBeUndefined()
  const next = await acquireLater(-3_600_000 + leaseMs + 1)
  expect(next?.epoch).toBeGreaterThan(granted!.epoch)
})

test('after the clock of Redis went back by an hour, a lease that its holder renews stays with it', async () => {
  const { granted, acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-3_600_000)).toBeUndefined()
  const renewed = await acquireLater(-3_600_000 + leaseMs - 1, 'ended')
  expect(renewed?.epoch).toBe(granted!.epoch)
  expect(await acquireLater(-3_600_000 + leaseMs + 1)).toBeUndefined()
})

test('after the clock of Redis went back by less than a lease, a held lease stays with its holder', async () => {
  const { acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-leaseMs + 1)).toBeUndefined()
})
