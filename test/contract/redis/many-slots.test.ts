import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { openInTest } from '../../support/redis/stores.ts'

/** More than the maximum number of calls that wait for Redis. */
const keys = 25_000

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('one renewal of the slots of 25,000 keys is answered', async () => {
  const { stores } = await openInTest(server)
  const sessions = Array.from({ length: keys }, (_, i) => ({ keyId: `key ${i}`, sessionId: `session ${i}` }))
  const lapsed = await stores.slots.renew(sessions)
  expect(lapsed).toHaveLength(keys)
})
