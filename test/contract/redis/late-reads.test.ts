import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openTcpProxy } from '../../support/clients/tcp-proxy.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import { freshPrefix, openInTest } from '../../support/redis/stores.ts'
import { freshFeed } from '../suites/sample-bars.ts'

/** Longer than the deadline of a read. */
const silentMs = 2_500
const silences = 3
/** With answers 40 ms late and four events per read, a reader gets about 100 events per second. */
const delayMs = 40
const eventsPerSecond = 200
const lagMax = 40

let server: RedisServer
beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

test('a reader whose reads were late catches up with a bus that is never quiet', async () => {
  const proxy = await openTcpProxy(server)
  onTestFinished(() => proxy.close())
  const prefix = freshPrefix()
  const { stores: writer } = await openInTest(server, { prefix })
  const { stores: reader } = await openInTest({ url: `redis://${proxy.host}:${proxy.port}` }, { prefix })
  const feed = freshFeed()
  let [published, read] = [0, 0]
  reader.bus.follow({
    deliver: ({ position, event }) => void (event.type === 'settled' && (read = position)),
    lost: () => undefined,
  })
  const ending = new AbortController()
  const publishing = (async () => {
    const begunMs = performance.now()
    let sent = 0
    while (!ending.signal.aborted) {
      await pause(50)
      const due = Math.floor(((performance.now() - begunMs) / 1_000) * eventsPerSecond) - sent
      sent += due
      const events = Array.from({ length: due }, () => writer.bus.publish({ type: 'settled', feed }, 1))
      for (const each of await Promise.all(events))
        if (each.outcome === 'published') published = each.position
    }
  })()
  onTestFinished(async () => {
    ending.abort()
    await publishing
  })
  const patient = { timeout: 30_000, interval: 50 }
  await expect.poll(() => read > 0 && published - read < lagMax, patient).toBe(true)
  for (let silence = 0; silence < silences; silence++) {
    proxy.set({ down: { kind: 'swallow' } })
    await pause(silentMs)
    proxy.set({})
    proxy.reset()
    const before = read
    await expect.poll(() => read > before, patient).toBe(true)
  }
  proxy.set({ down: { kind: 'delay', ms: delayMs } })
  await pause(1_000)
  await expect.poll(() => published - read < lagMax, patient).toBe(true)
}, 120_000)
