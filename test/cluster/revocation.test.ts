import { afterEach, expect, test } from 'vitest'
import { revokeKey, updateKey } from '../acceptance/client/keys.ts'
import type { StreamSocket } from '../acceptance/client/socket.ts'
import { basesOf, cutAll, isOpen, issueForAllPods, upgrade } from './pods.ts'

const symbol = 'BROKERA:ZERO:BTCUSD'
const withinMs = 5_000

afterEach(cutAll)

/** Opens a socket on every shard and subscribes it. */
async function onEveryShard(key: string): Promise<StreamSocket[]> {
  const outcomes = await Promise.all(basesOf('stream').map((base) => upgrade(base, key)))
  const sockets = outcomes.filter(isOpen)
  expect(sockets.length).toBeGreaterThan(1)
  await Promise.all(sockets.map((socket) => socket.subscribe([symbol])))
  return sockets
}

test('the sockets of a revoked key are closed on every shard within five seconds', async () => {
  const { key, id } = await issueForAllPods()
  const sockets = await onEveryShard(key)
  await revokeKey(id)
  const revokedMs = Date.now()
  for (const socket of sockets) expect((await socket.closed).code).toBe(4500)
  expect(Date.now() - revokedMs).toBeLessThan(withinMs)
  for (const socket of sockets)
    expect(socket.messages.at(-1)).toMatchObject({ type: 'error', code: 'KEY_INACTIVE' })
})

test('a withdrawn grant ends subscriptions on every shard within five seconds, and the sockets stay open', async () => {
  const { key, id } = await issueForAllPods({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
  const sockets = await onEveryShard(key)
  await updateKey(id, { feeds: ['BROKERB:LIVE'] })
  const withdrawn = await Promise.all(sockets.map((socket) => socket.next('unsubscribed', withinMs)))
  for (const message of withdrawn)
    expect(message).toEqual({ type: 'unsubscribed', symbols: [symbol], reason: 'SYMBOL_NOT_PERMITTED' })
  await Promise.all(sockets.map((socket) => socket.settled()))
})
