import { afterEach, describe, expect, test } from 'vitest'
import { until } from '../acceptance/client/until.ts'
import { effort } from '../support/effort.ts'
import { basesOf, cutAll, isOpen, issueForAllPods, upgrade } from './pods.ts'

const attempts = 64
/** Rounds for each cap; 500 over all caps in `make soak`. */
const roundsPerCap = Math.ceil((25 * effort) / 4)

afterEach(cutAll)

describe.each([1, 2, 10, 50])('a cap of %i sockets', (cap) => {
  test(`admits exactly that many of ${attempts} simultaneous upgrades over all shards, and is free again when they close`, async () => {
    const { key } = await issueForAllPods({ wsConnections: cap })
    const shards = basesOf('stream')
    expect(shards.length).toBeGreaterThan(1)
    for (let round = 0; round < roundsPerCap; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: attempts }, (_, i) => upgrade(shards[i % shards.length] as string, key)),
      )
      const open = outcomes.filter(isOpen)
      expect(open).toHaveLength(cap)
      for (const refused of outcomes)
        if (!isOpen(refused)) expect(refused).toEqual({ status: 429, code: 'TOO_MANY_CONNECTIONS' })
      await Promise.all(open.map((socket) => socket.close()))
    }
  })
})

test('a slot that one shard frees is free on the other shard at once', async () => {
  const { key } = await issueForAllPods({ wsConnections: 1 })
  const [here = '', there = ''] = basesOf('stream')
  for (let round = 0; round < 5 * effort; round++) {
    const first = await upgrade(here, key)
    expect(isOpen(first)).toBe(true)
    expect(isOpen(await upgrade(there, key))).toBe(false)
    if (isOpen(first)) await first.close()
    const second = await upgrade(there, key)
    expect(isOpen(second)).toBe(true)
    if (isOpen(second)) await second.close()
  }
})

test('a socket that ends without a close frame frees its slot', async () => {
  const { key } = await issueForAllPods({ wsConnections: 1 })
  const [here = '', there = ''] = basesOf('stream')
  const first = await upgrade(here, key)
  expect(isOpen(first)).toBe(true)
  if (isOpen(first)) first.raw.terminate()
  await until('the slot', async () => isOpen(await upgrade(there, key)))
})
