import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Unavailable } from '../../../services/core/failure.ts'
import { slotLeaseMs } from '../../../services/ports/slots.ts'
import { slotHoldMs } from '../../../services/stores/redis/limits/slots.ts'
import { type RedisServer, startRedis } from '../../support/redis/server.ts'
import {
  advanceWithinReach,
  freshPrefix,
  isBack,
  openInTest,
  timeOfTests,
} from '../../support/redis/stores.ts'

const longTimeout = { timeout: 15_000 }
const today = '2026-01-05'

let server: RedisServer
beforeEach(async () => {
  server = await startRedis()
})
afterEach(() => server.stop())

/** Two shards on a Redis that opens new slots. */
async function openTwo() {
  const time = timeOfTests()
  const prefix = freshPrefix()
  const a = await openInTest(server, { prefix, time })
  const b = await openInTest(server, { prefix, time, admits: false })
  await advanceWithinReach(a.stores.slots, time, slotHoldMs)
  return { a, b, time, prefix }
}

describe('a Redis that was frozen until all slots had lapsed', () => {
  test('opens no new slot before running shards could take their slots again', async () => {
    const { a, b, time } = await openTwo()
    expect(await a.stores.slots.open('key', 'old', 1)).toMatchObject({ outcome: 'open' })
    await server.freeze()
    await time.advance(slotLeaseMs)
    server.thaw()
    await Promise.all([isBack(a), isBack(b)])
    const openNew = () => b.stores.slots.open('key', 'new', 1)
    await expect(openNew()).rejects.toThrow(Unavailable)
    expect(await a.stores.slots.renew([{ keyId: 'key', sessionId: 'old' }])).toEqual(['old'])
    expect(await a.stores.slots.open('key', 'old', 1, today)).toEqual({ outcome: 'open', inUse: 1 })
    await advanceWithinReach(a.stores.slots, time, slotHoldMs - 1)
    await expect(b.stores.slots.open('another key', 'new', 1)).rejects.toThrow(Unavailable)
    await time.advance(1)
    expect(await openNew()).toEqual({ outcome: 'full', inUse: 1 })
    expect(await b.stores.slots.open('another key', 'new', 1)).toEqual({ outcome: 'open', inUse: 1 })
  })

  test('opens no new slot either when a renewal or a new connection is the first call', async () => {
    const { a, b, time, prefix } = await openTwo()
    for (const first of [
      () => a.stores.slots.renew([{ keyId: 'key', sessionId: 'old' }]),
      () => openInTest(server, { prefix, time }),
      () => Promise.resolve(),
    ]) {
      await time.advance(slotLeaseMs)
      await first()
      await expect(b.stores.slots.open('key', 'new', 1)).rejects.toThrow(Unavailable)
      await advanceWithinReach(a.stores.slots, time, slotHoldMs)
      expect(await b.stores.slots.open('key', 'new', 1)).toMatchObject({ outcome: 'open' })
      await b.stores.slots.close('key', 'new')
    }
  })
})

test('shards without sockets open new slots at once, because their processes keep Redis informed that they run', async () => {
  const { a, b, time, prefix } = await openTwo()
  const seen = async (): Promise<number> =>
    Number((await server.command(`HGET ${prefix}life seen`)).split('\r\n')[1])
  for (let waited = 0; waited < slotLeaseMs; waited += 15_000) {
    await time.advance(15_000)
    await vi.waitFor(async () => expect(await seen()).toBe(time.utcMs()), longTimeout)
  }
  for (const { stores } of [a, b])
    expect(await stores.slots.open('key', 'new', 1)).toMatchObject({ outcome: 'open' })
})
