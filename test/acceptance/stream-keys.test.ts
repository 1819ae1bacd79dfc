import { afterEach, describe, expect, test } from 'vitest'
import { refusedUpgrade } from './client/http.ts'
import { issueKey, revokeKey, rotateKey, updateKey } from './client/keys.ts'
import { closeSockets, connect, type StreamSocket } from './client/socket.ts'
import { until } from './client/until.ts'

const inForceMs = 5000
afterEach(closeSockets)

describe('a change of a key reaches its open sockets within five seconds', () => {
  const cut = async (socket: StreamSocket, code: string, close: number) => {
    const error = await socket.next('error', inForceMs + 1000)
    expect(Object.keys(error).slice(0, 2)).toEqual(['type', 'code'])
    expect(error['code']).toBe(code)
    expect((await socket.closed).code).toBe(close)
    expect(socket.messages.at(-1)?.type).toBe('error')
  }

  test('a revoked key: the socket gets KEY_INACTIVE and is closed with 4500', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await revokeKey(made.id)
    const confirmed = Date.now()
    await cut(socket, 'KEY_INACTIVE', 4500)
    expect(Date.now() - confirmed).toBeLessThanOrEqual(inForceMs)
  })

  test('an expired key: the socket gets KEY_EXPIRED and is closed with 4501', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    const end = Date.now() + 5000
    await updateKey(made.id, { expires: new Date(end).toISOString() })
    await until('the expiry', () => Date.now() >= end)
    const inForce = Date.now()
    await cut(socket, 'KEY_EXPIRED', 4501)
    expect(Date.now() - inForce).toBeLessThanOrEqual(inForceMs)
  })

  test('an address that is no longer allowed: the socket gets IP_NOT_ALLOWED and is closed with 4502', async () => {
    const made = await issueKey({ allowIp: ['127.0.0.1'] })
    const socket = await connect(made.key)
    await updateKey(made.id, { allowIp: ['203.0.113.7'] })
    await cut(socket, 'IP_NOT_ALLOWED', 4502)
  })

  test('a key that is rotated without overlap: the socket gets an error and a close code that forbids to reconnect', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await rotateKey(made.id)
    const error = await socket.next('error', inForceMs + 1000)
    expect(['KEY_INVALID', 'KEY_INACTIVE']).toContain(error['code'])
    expect((await socket.closed).code).toBeGreaterThanOrEqual(4500)
  })

  test('a withdrawn grant: its symbols are unsubscribed with a reason, and the socket stays open', async () => {
    const made = await issueKey({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const socket = await connect(made.key)
    const symbols = ['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:EURUSD', 'BROKERA:ZERO:GBPUSD']
    expect((await socket.subscribe(symbols)).symbols).toEqual(symbols)
    await updateKey(made.id, { feeds: ['BROKERB:LIVE'] })
    const message = await socket.next('unsubscribed', inForceMs)
    expect(Object.keys(message)).toEqual(['type', 'symbols', 'reason'])
    expect((message['symbols'] as string[]).toSorted()).toEqual([
      'BROKERA:ZERO:EURUSD',
      'BROKERA:ZERO:GBPUSD',
    ])
    expect(message['reason']).toEqual(expect.any(String))
    const again = await socket.subscribe(['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:GBPUSD'])
    expect(again).toMatchObject({ symbols: ['BROKERB:LIVE:GBPUSD'], rejected: ['BROKERA:ZERO:EURUSD'] })
  })

  test('symbols of a new grant can be subscribed on the same socket', async () => {
    const made = await issueKey({ feeds: ['BROKERB:LIVE'] })
    const socket = await connect(made.key)
    expect((await socket.subscribe(['BROKERA:ZERO:EURUSD'])).rejected).toEqual(['BROKERA:ZERO:EURUSD'])
    await updateKey(made.id, { feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const granted = async () => (await socket.subscribe(['BROKERA:ZERO:EURUSD'])).symbols.length === 1
    await until('the grant', granted, inForceMs)
  })

  test('a revocation frees the slot and refuses the next upgrade', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await revokeKey(made.id)
    await socket.closed
    // Another shard may learn of the revocation later than the one with the socket.
    await until(
      'a refused upgrade',
      async () => {
        const answer = await refusedUpgrade(`/v1/stream?api_key=${made.key}`)
        return answer.body.error.code === 'KEY_INACTIVE'
      },
      inForceMs,
    )
  })
})
