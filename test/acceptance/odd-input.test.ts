import { connect as dial, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask, read } from './client/http.ts'
import { issueKey } from './client/keys.ts'
import { closeSockets, connect } from './client/socket.ts'
import { target } from './client/target.ts'
import { until } from './client/until.ts'

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
afterEach(closeSockets)

const inUse = async () =>
  (await read<{ current: { ws_connections_in_use: number } }>('/v1/usage', key)).current.ws_connections_in_use

/** A separate TCP connection to the service, for writing any bytes. */
const raw = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(target().url)
    const socket: Socket = dial(Number(port), hostname, () => resolve(socket))
    socket.on('error', reject)
  })

describe('no input answers 5xx', () => {
  const name = fc.oneof(
    fc.constantFrom('symbol', 'resolution', 'from', 'to', 'countback', 'limit', 'offset', 'search', 'days'),
    fc.constantFrom('api_key', '__proto__', 'symbol[]', 'constructor', ''),
    fc.string({ maxLength: 8 }),
  )
  const value = fc.oneof(
    fc.constantFrom(
      'BROKERA:ZERO:BTCUSD',
      'BROKERA:PRIME:EURUSD',
      'BROKERA:ZERO:__proto__',
      '::',
      '1',
      '30',
      '1M',
    ),
    fc.constantFrom(
      '-1',
      '0',
      '1e3',
      '9007199254740993',
      '-9007199254740993',
      'NaN',
      'null',
      '%00',
      '\\u0000',
    ),
    fc.integer().map(String),
    fc.string({ unit: 'binary', maxLength: 80 }),
  )
  const path = fc.constantFrom('config', 'symbols', 'history', 'coverage', 'status', 'usage', 'stream', 'x')
  const encode = (text: string) => encodeURIComponent(text.toWellFormed())

  test('requests with random parameters are never answered 5xx', async () => {
    const asked = fc.tuple(path, fc.array(fc.tuple(name, value), { maxLength: 6 }))
    await fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 10, maxLength: 10 }), async (requests) => {
        const answers = requests.map(([endpoint, parameters]) => {
          const query = parameters.map((pair) => pair.map(encode).join('=')).join('&')
          return ask(`/v1/${endpoint}?${query}`, { key })
        })
        for (const { status, text } of await Promise.all(answers)) expect(status, text).toBeLessThan(500)
      }),
    )
  })

  test('each random message on the stream is answered and the socket stays open', async () => {
    const message = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc
        .record(
          {
            action: fc.oneof(fc.constantFrom('subscribe', 'unsubscribe', 'ping', 'x'), fc.jsonValue()),
            symbols: fc.oneof(fc.array(value, { maxLength: 5 }), fc.jsonValue()),
            type: fc.oneof(fc.constantFrom('bar', 'tick'), fc.jsonValue()),
          },
          { requiredKeys: [] },
        )
        .map((each) => JSON.stringify(each)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 20 }), async (messages) => {
        const socket = await connect(key)
        for (const each of messages) socket.send(each)
        await until('an answer to each', () => socket.frames.length === messages.length + 1)
        await socket.settled()
        await socket.close()
      }),
      { numRuns: 30 },
    )
  })
})

describe('nested JSON', () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

  test('5,000 and more levels in any field of a message are answered by a short error, and the service keeps running', async () => {
    const beside = await connect(key)
    for (const levels of [5_000, 32_000]) {
      for (const message of [
        nested(levels),
        `{"action":${nested(levels)}}`,
        `{"action":"subscribe","symbols":[],"type":${nested(levels)}}`,
        `{"action":"subscribe","symbols":${nested(levels)}}`,
        `{"action":"subscribe","symbols":[${nested(levels)}]}`,
        `{"action":"subscribe","symbols":[],"markers":${nested(levels)}}`,
        `{"action":"subscribe","symbols":["x"],"since":${nested(levels)}}`,
        `{"action":"subscribe","symbols":["x"],"since":{"x":${nested(levels)}}}`,
      ]) {
        const socket = await connect(key)
        socket.send(message)
        const error = await socket.next('error')
        expect(JSON.stringify(error).length, message.slice(0, 60)).toBeLessThan(800)
        await socket.settled()
        await socket.close()
      }
    }
    await beside.settled()
    await read('/v1/status', key)
  })
})

describe('clients that disconnect or send garbage', () => {
  test('connections that are reset during an upgrade, accepted or refused, leave no slot in use', async () => {
    const request = (secret: string) =>
      `GET /v1/stream?api_key=${secret} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
    const sockets = await Promise.all(Array.from({ length: 60 }, raw))
    for (const [index, socket] of sockets.entries()) {
      socket.on('error', () => undefined)
      socket.write(request(index % 2 === 0 ? key : 'nonsense'), () => socket.resetAndDestroy())
    }
    await until('no slot in use', async () => (await inUse()) === 0)
  })

  test('bytes that are not WebSocket frames close the socket and free its slot', async () => {
    for (const bytes of [
      [0xff, 0xff, 0xff, 0xff],
      [0x81, 0x05, 1, 2, 3, 4, 5],
      [0xc1, 0x80, 0, 0, 0, 0],
    ]) {
      const socket = await connect(key)
      const inner = socket.raw as unknown as { _socket: Socket }
      inner._socket.write(Buffer.from(bytes))
      const { code } = await socket.closed
      expect([1002, 1006]).toContain(code)
    }
    await until('no slot in use', async () => (await inUse()) === 0)
  })

  test('a message in a thousand fragments closes the socket', async () => {
    const socket = await connect(key)
    for (let part = 0; part < 1000; part++) socket.raw.send('x', { fin: false })
    const { code } = await socket.closed
    expect([1006, 1008, 1009]).toContain(code)
    await until('no slot in use', async () => (await inUse()) === 0)
  })

  test('a request whose headers never end is disconnected', { timeout: 60_000 }, async () => {
    const socket = await raw()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('data', () => undefined)
    socket.on('error', () => undefined)
    socket.write('GET /v1/config HTTP/1.1\r\nHost: x\r\n')
    const drip = setInterval(() => socket.write('X-A: b\r\n'), 1000)
    await closed
    clearInterval(drip)
    await read('/v1/config')
  })
})
