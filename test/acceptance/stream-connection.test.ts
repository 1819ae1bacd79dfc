import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { utcNow } from './client/clocks.ts'
import { ask, rate, read, refusedUpgrade } from './client/http.ts'
import { issueKey, revokeKey, rotateKey, updateKey } from './client/keys.ts'
import { closeSockets, connect, type StreamSocket } from './client/socket.ts'
import { until } from './client/until.ts'

const inForce = 5000

let key = ''
beforeAll(async () => {
  key = (await issueKey({ plan: 'enterprise', rpm: 100_000, rpd: 1e6, wsConnections: 100, wsSymbols: 123 }))
    .key
})
afterEach(closeSockets)

const inUse = async (secret: string) =>
  (await read<{ current: { ws_connections_in_use: number } }>('/v1/usage', secret)).current
    .ws_connections_in_use
const usesBecome = (secret: string, count: number, deadlineMs?: number) =>
  until(`${count} connections in use`, async () => (await inUse(secret)) === count, deadlineMs)

describe('the upgrade', () => {
  test('the key is taken from the query', async () => {
    expect((await (await connect(key)).next('connected')).type).toBe('connected')
  })

  test('the key is taken from the header and from a bearer too', async () => {
    await (await connect(undefined, { headers: { 'X-API-Key': key } })).next('connected')
    await (await connect(undefined, { headers: { Authorization: `Bearer ${key}` } })).next('connected')
  })

  test('the header wins over the query', async () => {
    const headers = { 'X-API-Key': `fxd_${'0'.repeat(32)}` }
    expect((await refusedUpgrade(`/v1/stream?api_key=${key}`, { headers })).status).toBe(401)
  })

  test('a repeated key is an invalid key', async () => {
    const answer = await refusedUpgrade(`/v1/stream?api_key=${key}&api_key=${key}`)
    expect(answer.status).toBe(401)
    expect(answer.body.error.code).toBe('KEY_INVALID')
  })
})

describe('the connected message', () => {
  test('it comes first, with a session id, the time and the limits, in that order', async () => {
    const socket = await connect(key)
    const message = await socket.next('connected')
    expect(socket.frames[0]).toBe(JSON.stringify(message))
    expect(Object.keys(message)).toEqual(['type', 'session_id', 'server_time', 'limits'])
    expect(message['session_id']).toEqual(expect.any(String))
    expect(Math.abs(Number(message['server_time']) - utcNow())).toBeLessThanOrEqual(2)
  })

  test("limits are the key's symbols, the idle timeout and the message size", async () => {
    const { limits } = await (await connect(key)).next('connected')
    expect(limits).toEqual({ max_symbols: 123, idle_timeout_seconds: 60, max_message_bytes: 65_536 })
  })

  test('every session has its own id', async () => {
    const sockets = await Promise.all([connect(key), connect(key), connect(key)])
    const ids = await Promise.all(
      sockets.map(async (socket) => (await socket.next('connected'))['session_id']),
    )
    expect(new Set(ids).size).toBe(3)
  })
})

describe('ping', () => {
  test('it is answered with a pong that tells the time in epoch seconds', async () => {
    const socket = await connect(key)
    socket.send({ action: 'ping' })
    const pong = await socket.next('pong')
    expect(Object.keys(pong)).toEqual(['type', 't'])
    expect(Number.isInteger(pong['t'])).toBe(true)
    expect(Math.abs(Number(pong['t']) - utcNow())).toBeLessThanOrEqual(2)
  })

  test('messages are answered in their order', async () => {
    const socket = await connect(key)
    for (let count = 0; count < 20; count++) {
      socket.send({ action: 'ping' })
      socket.send({ action: 'unsubscribe', symbols: [`X${count}`] })
    }
    await until('all answers', () => socket.frames.length === 41)
    const types = socket.messages.slice(1).map(({ type }) => type)
    expect(types).toEqual(Array.from({ length: 20 }, () => ['pong', 'unsubscribed']).flat())
  })

  test('a protocol ping is answered by the protocol', async () => {
    const socket = await connect(key)
    const answered = new Promise((resolve) => socket.raw.once('pong', (data) => resolve(String(data))))
    socket.raw.ping('x')
    expect(await answered).toBe('x')
  })
})

describe('messages that are not understood', () => {
  const bad = [
    '{',
    'null',
    '[]',
    '"ping"',
    '1',
    '{}',
    '{"action":"dance"}',
    '{"action":7}',
    '{"action":"__proto__"}',
  ]
  const badSubscribe = [
    '{"action":"subscribe"}',
    '{"action":"subscribe","symbols":"BROKERA:ZERO:EURUSD"}',
    '{"action":"subscribe","symbols":[1]}',
    '{"action":"unsubscribe"}',
    '{"action":"unsubscribe","symbols":{}}',
  ]

  test.for([...bad, ...badSubscribe])('%s is answered by BAD_MESSAGE and the socket stays', async (text) => {
    const socket = await connect(key)
    socket.send(text)
    const error = await socket.next('error')
    expect(Object.keys(error).slice(0, 3)).toEqual(['type', 'code', 'message'])
    expect(error['code']).toBe('BAD_MESSAGE')
    expect(String(error['message']).length).toBeGreaterThan(5)
    await socket.settled()
  })

  test('a type other than bar is answered by UNSUPPORTED_TYPE and the socket stays', async () => {
    const socket = await connect(key)
    for (const type of ['tick', '', 'BAR', 1, null]) {
      socket.send({ action: 'subscribe', symbols: ['BROKERA:ZERO:EURUSD'], type })
      const error = await socket.next('error')
      expect(error['code']).toBe('UNSUPPORTED_TYPE')
      expect(error['message']).toEqual(expect.any(String))
    }
    await socket.settled()
    expect(socket.messages.filter(({ type }) => type === 'subscribed')).toEqual([])
  })

  test('a message above 64 KiB closes with 1009', async () => {
    const socket = await connect(key)
    socket.send(JSON.stringify({ action: 'ping', x: 'x'.repeat(66_000) }))
    expect((await socket.closed).code).toBe(1009)
  })

  test('a message of 64 KiB is read', async () => {
    const socket = await connect(key)
    const frame = JSON.stringify({ action: 'ping', x: '' })
    socket.send(frame.replace('""', `"${'x'.repeat(65_536 - frame.length)}"`))
    await socket.next('pong')
  })

  test('a binary message closes with 1003', async () => {
    const socket = await connect(key)
    socket.raw.send(Buffer.from('{"action":"ping"}'), { binary: true })
    expect((await socket.closed).code).toBe(1003)
  })

  test('a client that sends faster than fifty messages a second is read more slowly and loses none', async () => {
    const socket = await connect(key)
    for (let count = 0; count < 150; count++) socket.send({ action: 'ping' })
    await until('150 pongs', () => socket.frames.length === 151, 20_000)
    expect(socket.messages.filter(({ type }) => type === 'pong')).toHaveLength(150)
  })
})

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

  test('as many connections as the cap are open, one more is refused', async () => {
    const secret = await capped(3)
    for (let count = 0; count < 3; count++) await connect(secret)
    const answer = await refusedUpgrade(`/v1/stream?api_key=${secret}`)
    expect(answer.status).toBe(429)
    expect(answer.body.error.code).toBe('TOO_MANY_CONNECTIONS')
    expect(answer.headers['x-ws-connections-limit']).toBe('3')
    expect(answer.headers['x-ws-connections-in-use']).toBe('3')
  })

  test('of many attempts at the same moment exactly the cap succeeds', async () => {
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

  test('a connection that breaks frees its slot without anybody acting', async () => {
    const secret = await capped(1)
    const socket = await connect(secret)
    socket.raw.terminate()
    await usesBecome(secret, 0)
    await connect(secret)
  })

  test('a refused upgrade takes no slot and refusals are no limit on later attempts', async () => {
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
  test('opening a connection and its messages consume none of it', async () => {
    const secret = (await issueKey({ plan: 'basic', rpm: 1000, rpd: 100 })).key
    const socket = await connect(secret)
    for (let count = 0; count < 10; count++) socket.send({ action: 'ping' })
    await socket.subscribe(['BROKERA:ZERO:EURUSD'])
    const answer = await ask('/v1/status', { key: secret })
    expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(99)
  })

  test('a key whose day is spent still connects and subscribes', async () => {
    const secret = (await issueKey({ plan: 'basic', rpd: 1 })).key
    await read('/v1/status', secret)
    expect((await ask('/v1/status', { key: secret })).status).toBe(429)
    const reply = await (await connect(secret)).subscribe(['BROKERA:ZERO:EURUSD'])
    expect(reply.symbols).toEqual(['BROKERA:ZERO:EURUSD'])
  })
})

describe('what happens to a key reaches its open sockets within five seconds', () => {
  const cut = async (socket: StreamSocket, code: string, close: number) => {
    const error = await socket.next('error', inForce + 1000)
    expect(Object.keys(error).slice(0, 2)).toEqual(['type', 'code'])
    expect(error['code']).toBe(code)
    expect((await socket.closed).code).toBe(close)
    expect(socket.messages.at(-1)?.type).toBe('error')
  }

  test('a revoked key: KEY_INACTIVE, then 4500', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await revokeKey(made.id)
    const confirmed = Date.now()
    await cut(socket, 'KEY_INACTIVE', 4500)
    expect(Date.now() - confirmed).toBeLessThanOrEqual(inForce)
  })

  test('an expired key: KEY_EXPIRED, then 4501', async () => {
    const end = Date.now() + 5000
    const made = await issueKey({ expires: new Date(end).toISOString() })
    const socket = await connect(made.key)
    await until('the expiry', () => Date.now() >= end)
    await cut(socket, 'KEY_EXPIRED', 4501)
    expect(Date.now() - end).toBeLessThanOrEqual(inForce)
  })

  test('an address that is no longer allowed: IP_NOT_ALLOWED, then 4502', async () => {
    const made = await issueKey({ allowIp: ['127.0.0.1'] })
    const socket = await connect(made.key)
    await updateKey(made.id, { allowIp: ['203.0.113.7'] })
    await cut(socket, 'IP_NOT_ALLOWED', 4502)
  })

  test('a rotated key without overlap: KEY_INVALID and a close that says not to come back', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await rotateKey(made.id)
    const error = await socket.next('error', inForce + 1000)
    expect(['KEY_INVALID', 'KEY_INACTIVE']).toContain(error['code'])
    expect((await socket.closed).code).toBeGreaterThanOrEqual(4500)
  })

  test('a withdrawn grant: unsubscribed with a reason, and the socket stays', async () => {
    const made = await issueKey({ feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const socket = await connect(made.key)
    const symbols = ['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:EURUSD', 'BROKERA:ZERO:GBPUSD']
    expect((await socket.subscribe(symbols)).symbols).toEqual(symbols)
    await updateKey(made.id, { feeds: ['BROKERB:LIVE'] })
    const message = await socket.next('unsubscribed', inForce)
    expect(Object.keys(message)).toEqual(['type', 'symbols', 'reason'])
    expect((message['symbols'] as string[]).toSorted()).toEqual([
      'BROKERA:ZERO:EURUSD',
      'BROKERA:ZERO:GBPUSD',
    ])
    expect(message['reason']).toEqual(expect.any(String))
    const again = await socket.subscribe(['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:GBPUSD'])
    expect(again).toMatchObject({ symbols: ['BROKERB:LIVE:GBPUSD'], rejected: ['BROKERA:ZERO:EURUSD'] })
  })

  test('a new grant may be subscribed to on the same socket', async () => {
    const made = await issueKey({ feeds: ['BROKERB:LIVE'] })
    const socket = await connect(made.key)
    expect((await socket.subscribe(['BROKERA:ZERO:EURUSD'])).rejected).toEqual(['BROKERA:ZERO:EURUSD'])
    await updateKey(made.id, { feeds: ['BROKERA:ZERO', 'BROKERB:LIVE'] })
    const granted = async () => (await socket.subscribe(['BROKERA:ZERO:EURUSD'])).symbols.length === 1
    await until('the grant', granted, inForce)
  })

  test('a revocation frees the slot and refuses the next upgrade', async () => {
    const made = await issueKey()
    const socket = await connect(made.key)
    await revokeKey(made.id)
    await socket.closed
    const answer = await refusedUpgrade(`/v1/stream?api_key=${made.key}`)
    expect(answer.body.error.code).toBe('KEY_INACTIVE')
  })
})
