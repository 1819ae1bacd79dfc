import { afterAll, beforeAll } from 'vitest'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { describeRedis } from './suite.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

describeRedis('Redis', () => ({ url: server.url, sentinels: [], master: '' }))
