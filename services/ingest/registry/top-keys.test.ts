import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRegistryFixture, type RegistryFixture } from '../../../test/support/fixtures/registry-fixture.ts'
import { topKeys } from './top-keys.ts'

const generous = { rpm: 1_000, rpd: 1_000 }
const dayMs = 86_400_000
let fixture: RegistryFixture
beforeAll(async () => {
  fixture = await openRegistryFixture()
})
afterAll(() => fixture.remove())

/** A new key that makes this number of requests. */
async function keyWith(requests: number, limits = generous): Promise<string> {
  const { key } = await fixture.create({ name: '€'.repeat(128) })
  const id = key?.id ?? ''
  for (let i = 0; i < requests; i++) await fixture.stores.limits.admit(id, limits, 'history')
  return id
}
const top = async (limit: number) => (await fixture.call('ListTopKeys', { limit })).keys

describe('ListTopKeys', () => {
  test('has the keys used today, most requests first, with refused requests and open sockets', async () => {
    const yesterday = await keyWith(9)
    await fixture.clock.advance(dayMs)
    const [little, much, refused] = [await keyWith(1), await keyWith(3), await keyWith(3, { rpm: 2, rpd: 9 })]
    const streaming = await keyWith(0)
    for (const session of ['a', 'b']) await fixture.stores.slots.open(streaming, session, 30)
    await fixture.stores.slots.close(streaming, 'a')
    await fixture.call('RevokeKey', { id: little })

    const found = await top(200)
    expect(found.map(({ id }) => id)).toEqual([much, refused, little, streaming])
    expect(found.map(({ id }) => id)).not.toContain(yesterday)
    expect(found.map(({ requests, rateLimited, sockets }) => [requests, rateLimited, sockets])).toEqual([
      [3, 0, 0],
      [2, 1, 0],
      [1, 0, 0],
      [0, 0, 1],
    ])
    expect(found[0]).toMatchObject({ plan: 'pro', socketsMax: 30 })
    expect((await top(2)).map(({ id }) => id)).toEqual([much, refused])
  })

  test('the longest answer fits a message', async () => {
    for (let i = 0; i < 257; i++) await keyWith(1)
    expect(await top(200)).toHaveLength(200)
  })

  test('counters that are read too slowly give an error with their number, not a partial answer', async () => {
    const { clock, stores, registry } = fixture
    const keys = registry.view().keys.all()
    expect(keys.length).toBeGreaterThan(256)
    const slow = {
      usage: async (...of: Parameters<typeof stores.limits.usage>) => {
        if (of[0] === keys[0]?.id) await clock.advance(30_001)
        return stores.limits.usage(...of)
      },
    }
    await expect(topKeys(1, keys, { limits: slow, slots: stores.slots, clock })).rejects.toThrow(
      `The usage of ${keys.length} keys was not read within 30 s; try again.`,
    )
  })

  test.each([0, 201])('a limit of %i is refused', async (limit) => {
    expect(await fixture.refusal('ListTopKeys', { limit })).toEqual([
      'INVALID_ARGUMENT',
      `limit: got ${limit}, wanted 1 to 200`,
    ])
  })
})
