import { expect, onTestFinished, test, vi } from 'vitest'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { openInTest } from '../../support/redis/stores.ts'

const maxBytes = 31_457_280
const metrics = ['fxd_redis_memory_used_bytes', 'fxd_redis_memory_max_bytes'] as const

async function started(settings: readonly string[]): Promise<RedisServer> {
  const server = await startRedis({ settings })
  onTestFinished(() => server.stop())
  return server
}

async function memoryOf(server: RedisServer) {
  const opened = await openInTest(server)
  await vi.waitUntil(async () => (await opened.metric(metrics[0])) > 0)
  const [used, max] = await Promise.all(metrics.map((name) => opened.metric(name)))
  return { opened, used, max }
}

test('the metrics of a Redis that is nearly full have its memory and its maximum, and end with it', async () => {
  const server = await started(['maxmemory 30mb'])
  await server.command('SETRANGE big 21000000 x')
  const { opened, used, max } = await memoryOf(server)
  expect(max).toBe(maxBytes)
  expect(used).toBeGreaterThan(0.8 * maxBytes)
  await server.kill()
  await vi.waitFor(async () => expect(await opened.metric(metrics[0])).toBe(0), { timeout: 20_000 })
})

test('a Redis without maxmemory has no maximum', async () => {
  const { used, max } = await memoryOf(await started(['maxmemory 0']))
  expect(used).toBeGreaterThan(0)
  expect(max).toBe(0)
})
