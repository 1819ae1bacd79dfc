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

/** Acquires a lease at noon. Then another process acquires it, or its holder renews it, at other times of Redis's clock. */
async function heldSinceNoon() {
  const noon = Date.UTC(2026, 0, 5, 12)
  const prefix = freshPrefix()
  const leasesAt = async (start: number) => {
    const { stores } = await openInTest({ url: server.url }, { prefix, time: createVirtualClock({ start }) })
    return stores.leases
  }
  const granted = await (await leasesAt(noon)).acquire('feed', 'holder')
  const acquireLater = async (ms: number) => (await leasesAt(noon + ms)).acquire('feed', 'next')
  const renewLater = async (ms: number) => (await leasesAt(noon + ms)).renew('feed', 'holder')
  return { granted, acquireLater, renewLater }
}

test('after the clock of Redis went back by an hour, an abandoned lease is granted 10 s after the first request for it', async () => {
  const { granted, acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-3_600_000)).toBeUndefined()
  expect(await acquireLater(-3_600_000 + leaseMs - 1)).toBeUndefined()
  const next = await acquireLater(-3_600_000 + leaseMs + 1)
  expect(next?.epoch).toBeGreaterThan(granted!.epoch)
})

test('after the clock of Redis went back by an hour, a holder that renews its lease keeps it', async () => {
  const { acquireLater, renewLater } = await heldSinceNoon()
  expect(await acquireLater(-3_600_000)).toBeUndefined()
  expect(await renewLater(-3_600_000 + leaseMs - 1)).toBe(true)
  expect(await acquireLater(-3_600_000 + leaseMs + 1)).toBeUndefined()
})

test('after the clock of Redis went back by less than a lease, a held lease stays with its holder', async () => {
  const { acquireLater } = await heldSinceNoon()
  expect(await acquireLater(-leaseMs + 1)).toBeUndefined()
})
