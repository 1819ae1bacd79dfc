import { afterEach, describe, expect, test } from 'vitest'
import { ask, rate, read, refusedUpgrade } from './client/http.ts'
import { issueKey, rotateKey } from './client/keys.ts'
import { withinOneMinute } from './client/minute.ts'
import { closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

afterEach(closeSockets)

const inUse = async (secret: string) =>
  (await read<{ current: { ws_connections_in_use: number } }>('/v1/usage', secret)).current
    .ws_connections_in_use
const usesBecome = (secret: string, count: number) =>
  until(`${count} connections in use`, async () => (await inUse(secret)) === count)

describe('slots', () => {
  const capped = async (cap: number) =>
    (await issueKey({ plan: 'basic', rpm: 10_000, wsConnections: cap })).key

  test('an open connection is counted in ws_connections_in_use', async () => {
    const secret = await capped(5)
    expect(await inUse(secret)).toBe(0)
    await connect(secret)
    await connect(secret)
    expect(await inUse(secret)).toBe(2)
  })

  test('connections up to the cap are accepted, one more is refused', async () => {
    const secret = await capped(3)
    for (let count = 0; count < 3; count++) await connect(secret)
    const answer = await refusedUpgrade(`/v1/stream?api_key=${secret}`)
    expect(answer.status).toBe(429)
    expect(answer.body.error.code).toBe('TOO_MANY_CONNECTIONS')
    expect(answer.headers['x-ws-connections-limit']).toBe('3')
    expect(answer.headers['x-ws-connections-in-use']).toBe('3')
  })

  test('of many simultaneous attempts exactly as many as the cap succeed', async () => {
    const secret = await capped(4)
    const outcomes = await Promise.allSettled(Array.from({ length: 16 }, () => connect(secret)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    expect(await inUse(secret)).toBe(4)
  })

  test('a closed socket frees its slot at once', async () => {
    const secret = await capped(1)
    for (let again = 0; again < 5; again++) {
      const socket = await connect(secret)
      await socket.close()
    }
    expect(await inUse(secret)).toBe(0)
  })

  test('a broken connection frees its slot automatically', async () => {
    const secret = await capped(1)
    const socket = await connect(secret)
    socket.raw.terminate()
    await usesBecome(secret, 0)
    await connect(secret)
  })

  test('refused upgrades take no slot and do not limit later attempts', async () => {
    const secret = await capped(1)
    const socket = await connect(secret)
    for (let attempt = 0; attempt < 30; attempt++) {
      expect((await refusedUpgrade(`/v1/stream?api_key=${secret}`)).status).toBe(429)
    }
    expect(await inUse(secret)).toBe(1)
    await socket.close()
    await connect(secret)
  })

  test('both secrets of a rotated key share one cap', async () => {
    const made = await issueKey({ plan: 'basic', rpm: 1000, wsConnections: 1 })
    const rotated = await rotateKey(made.id, '1h')
    await connect(made.key)
    const answer = await until('the new secret', async () => {
      const got = await refusedUpgrade(`/v1/stream?api_key=${rotated.key}`)
      return got.status !== 401 && got
    })
    expect(answer.status).toBe(429)
  })
})

describe('the request budget', () => {
  test('opening a connection and sending messages consume no requests', () =>
    withinOneMinute(async () => {
      const secret = (await issueKey({ plan: 'basic', rpm: 1000, rpd: 100 })).key
      const socket = await connect(secret)
      for (let count = 0; count < 10; count++) socket.send({ action: 'ping' })
      await socket.subscribe(['BROKERA:ZERO:EURUSD'])
      const answer = await ask('/v1/status', { key: secret })
      expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(99)
    }))

  test('a key whose day limit is used up still connects and subscribes', () =>
    withinOneMinute(async () => {
      const secret = (await issueKey({ plan: 'basic', rpd: 1 })).key
      await read('/v1/status', secret)
      expect((await ask('/v1/status', { key: secret })).status).toBe(429)
      const reply = await (await connect(secret)).subscribe(['BROKERA:ZERO:EURUSD'])
      expect(reply.symbols).toEqual(['BROKERA:ZERO:EURUSD'])
    }))
})
