import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { utcNow } from './client/clocks.ts'
import { refusedUpgrade } from './client/http.ts'
import { issueKey } from './client/keys.ts'
import { closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

let key = ''
beforeAll(async () => {
  key = (await issueKey({ plan: 'enterprise', rpm: 100_000, rpd: 1e6, wsConnections: 100, wsSymbols: 123 }))
    .key
})
afterEach(closeSockets)

describe('the upgrade', () => {
  test('the key is accepted in the query', async () => {
    expect((await (await connect(key)).next('connected')).type).toBe('connected')
  })

  test('the key is accepted in the X-API-Key header and as a bearer', async () => {
    await (await connect(undefined, { headers: { 'X-API-Key': key } })).next('connected')
    await (await connect(undefined, { headers: { Authorization: `Bearer ${key}` } })).next('connected')
  })

  test('the header takes precedence over the query', async () => {
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
  test('connected is the first frame, with a session id, the time and the limits, in that order', async () => {
    const began = utcNow()
    const socket = await connect(key)
    const message = await socket.next('connected')
    expect(socket.frames[0]).toBe(JSON.stringify(message))
    expect(Object.keys(message)).toEqual(['type', 'session_id', 'server_time', 'limits'])
    expect(message['session_id']).toEqual(expect.any(String))
    expect(message['server_time']).toBeGreaterThanOrEqual(began)
    expect(message['server_time']).toBeLessThanOrEqual(utcNow())
  })

  test('limits names the symbols of the key, the idle timeout and the message size', async () => {
    const { limits } = await (await connect(key)).next('connected')
    expect(limits).toEqual({ max_symbols: 123, idle_timeout_seconds: 60, max_message_bytes: 65_536 })
  })

  test('every session has a different id', async () => {
    const sockets = await Promise.all([connect(key), connect(key), connect(key)])
    const ids = await Promise.all(
      sockets.map(async (socket) => (await socket.next('connected'))['session_id']),
    )
    expect(new Set(ids).size).toBe(3)
  })
})

describe('ping', () => {
  test('a ping is answered with a pong that has the time in epoch seconds', async () => {
    const socket = await connect(key)
    const sent = utcNow()
    socket.send({ action: 'ping' })
    const pong = await socket.next('pong')
    expect(Object.keys(pong)).toEqual(['type', 't'])
    expect(Number.isInteger(pong['t'])).toBe(true)
    expect(pong['t']).toBeGreaterThanOrEqual(sent)
    expect(pong['t']).toBeLessThanOrEqual(utcNow())
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

  test('a protocol ping is answered with a protocol pong', async () => {
    const socket = await connect(key)
    const answered = new Promise((resolve) => socket.raw.once('pong', (data) => resolve(String(data))))
    socket.raw.ping('x')
    expect(await answered).toBe('x')
  })
})

describe('invalid messages and large messages', () => {
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

  test.for([...bad, ...badSubscribe])(
    '%s is answered by BAD_MESSAGE and the socket stays open',
    async (text) => {
      const socket = await connect(key)
      socket.send(text)
      const error = await socket.next('error')
      expect(Object.keys(error).slice(0, 3)).toEqual(['type', 'code', 'message'])
      expect(error['code']).toBe('BAD_MESSAGE')
      expect(String(error['message']).length).toBeGreaterThan(5)
      await socket.settled()
    },
  )

  test('a type other than bar is answered by UNSUPPORTED_TYPE and the socket stays open', async () => {
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

  test('a message of 64 KiB is accepted', async () => {
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

  test('a client that sends more than fifty messages a second is read more slowly and loses none', async () => {
    const socket = await connect(key)
    for (let count = 0; count < 150; count++) socket.send({ action: 'ping' })
    await until('150 pongs', () => socket.frames.length === 151, 20_000)
    expect(socket.messages.filter(({ type }) => type === 'pong')).toHaveLength(150)
  })
})
