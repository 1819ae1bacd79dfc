import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { openRegistryFixture } from '../../support/fixtures/registry-fixture.ts'
import { createVirtualClock } from '../../support/fixtures/virtual-clock.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { advanceWithinReach, openInTest } from '../../support/redis/stores.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('ListTopKeys reads use and sockets from Redis, and names Redis while it is unavailable', async () => {
  const time = createVirtualClock({ start: Date.UTC(2026, 10, 21, 12) })
  const { stores } = await openInTest(server, { time })
  await advanceWithinReach(stores.slots, time, slotHoldMs)
  const { limits, slots } = stores
  const fixture = await openRegistryFixture({ limits, slots })
  onTestFinished(() => fixture.remove())
  const [little, much] = [await fixture.create(), await fixture.create()]
  const admit = (id = '') => limits.admit(id, { rpm: 2, rpd: 9 }, 'history')
  await admit(little.key?.id)
  for (let i = 0; i < 3; i++) await admit(much.key?.id)
  await slots.open(little.key?.id ?? '', 'a', 30)

  expect((await fixture.call('ListTopKeys', { limit: 20 })).keys).toMatchObject([
    { id: much.key?.id, requests: 2, rateLimited: 1, sockets: 0 },
    { id: little.key?.id, requests: 1, rateLimited: 0, sockets: 1 },
  ])
  await server.kill()
  expect(await fixture.refusal('ListTopKeys', { limit: 20 })).toEqual([
    'UNAVAILABLE',
    'Redis does not answer; try again.',
  ])
})
