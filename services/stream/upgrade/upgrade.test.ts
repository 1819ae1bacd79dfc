import { once } from 'node:events'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../../../test/acceptance/client/until.ts'
import {
  ask,
  handshake,
  readAnswer,
  upgradeRequest as request,
} from '../../../test/support/clients/raw-upgrade.ts'
import { effort } from '../../../test/support/effort.ts'
import { openStreamFixture, type StreamFixture } from '../../../test/support/fixtures/stream-fixture.ts'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'

let fixture: StreamFixture
beforeAll(async () => {
  fixture = await openStreamFixture({ trustedProxies: ['127.0.0.0/8'] })
})
afterAll(() => fixture.close())

describe('a refused upgrade', () => {
  const bad = `fxd_${'f'.repeat(32)}`

  test.each([
    ['without a key', '/v1/stream', 401, 'UNAUTHORIZED'],
    ['with an empty key', '/v1/stream?api_key=', 401, 'UNAUTHORIZED'],
    ['with an unknown key', `/v1/stream?api_key=${bad}`, 401, 'KEY_INVALID'],
    ['with a malformed key', '/v1/stream?api_key=%zz%00', 401, 'KEY_INVALID'],
    ['with two keys', `/v1/stream?api_key=${bad}&api_key=${bad}`, 401, 'KEY_INVALID'],
    ['with an absolute target', `http://x/v1/stream?api_key=${bad}`, 401, 'KEY_INVALID'],
  ])('%s is an HTTP answer with the error body', async (_, target, status, code) => {
    const answer = await ask(fixture, request(target))
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({ error: { code, message: expect.any(String) as string } })
    expect(answer.head).toContain('\r\nConnection: close')
    expect(answer.head).toContain('\r\nContent-Type: application/json; charset=utf-8')
    expect(answer.head).toContain('\r\nWWW-Authenticate: Bearer')
    expect(answer.head).not.toContain('fxd_')
  })

  test('reaches a client that ended its side after its request', async () => {
    const socket = await fixture.dial()
    socket.end(request(`/v1/stream?api_key=${bad}`))
    expect((await readAnswer(socket)).body.error.code).toBe('KEY_INVALID')
    const { secret } = await fixture.issue({ limits: { rpm: 1, rpd: 1, wsConnections: 0, wsSymbols: 1 } })
    const late = await fixture.dial()
    late.end(request(`/v1/stream?api_key=${secret}`))
    expect((await readAnswer(late)).body.error.code).toBe('TOO_MANY_CONNECTIONS')
  })

  test('a revoked key, an expired key and a foreign address get their own error codes', async () => {
    const revoked = await fixture.issue({ revoked: true })
    const expired = await fixture.issue({ expiresAt: utcMs(fixture.clock.utcMs()) })
    const elsewhere = await fixture.issue({ allowIps: ['203.0.113.7'] })
    for (const [{ secret }, status, code] of [
      [revoked, 401, 'KEY_INACTIVE'],
      [expired, 401, 'KEY_EXPIRED'],
      [elsewhere, 403, 'IP_NOT_ALLOWED'],
    ] as const) {
      const answer = await ask(fixture, request(`/v1/stream?api_key=${secret}`))
      expect([answer.status, answer.body.error.code]).toEqual([status, code])
    }
    const forwarded = await ask(
      fixture,
      request(`/v1/stream?api_key=${elsewhere.secret}`, [
        ...handshake,
        'X-Forwarded-For: 203.0.113.7',
      ]).replace('dGhlIHNhbXBsZSBub25jZQ==', 'broken'),
    )
    expect(forwarded.body.error.code).toBe('BAD_REQUEST')
  })

  test('at the connection cap is answered 429 with three headers and counted, and the open slots stay', async () => {
    const limits = { rpm: 1, rpd: 1, wsConnections: 2, wsSymbols: 1 }
    const { secret, record, inUse } = await fixture.issue({ limits })
    await Promise.all([fixture.connect(secret), fixture.connect(secret)])
    const answer = await ask(fixture, request(`/v1/stream?api_key=${secret}`))
    expect(answer.status).toBe(429)
    expect(answer.body.error.code).toBe('TOO_MANY_CONNECTIONS')
    for (const header of ['Retry-After: 5', 'X-Ws-Connections-Limit: 2', 'X-Ws-Connections-In-Use: 2']) {
      expect(answer.head).toContain(`\r\n${header}`)
    }
    expect(await inUse()).toBe(2)
    const today = new Date(fixture.clock.utcMs()).toISOString().slice(0, 10)
    const usage = await fixture.stores.limits.usage(record.id, today, today)
    expect(usage.get(today)).toMatchObject({ rate_limited: 1, ws_connect: 2, ws_session: 2, requests: 0 })
  })
})

describe('a broken handshake takes no slot', () => {
  const without = (name: string): string[] => handshake.filter((line) => !line.startsWith(name))

  test.each([
    ['no version', without('Sec-WebSocket-Version'), '426 UPGRADE_REQUIRED', 'Upgrade: websocket'],
    [
      'an unknown version',
      [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 7'],
      '426 UPGRADE_REQUIRED',
      'Sec-WebSocket-Version: 13',
    ],
    ['no Sec-WebSocket-Key', without('Sec-WebSocket-Key'), '400 BAD_REQUEST', 'Connection: close'],
    [
      'Sec-WebSocket-Key twice',
      [...handshake, handshake.at(-1) ?? ''],
      '400 BAD_REQUEST',
      'Connection: close',
    ],
    [
      'a malformed subprotocol',
      [...handshake, 'Sec-WebSocket-Protocol: a,,a'],
      '400 BAD_REQUEST',
      'Connection: close',
    ],
  ])('%s', async (_, headers, refused, header) => {
    const { secret, inUse } = await fixture.issue()
    const answer = await ask(fixture, request(`/v1/stream?api_key=${secret}`, headers))
    expect(`${answer.status} ${answer.body.error.code}`).toBe(refused)
    expect(answer.head).toContain(`\r\n${header}`)
    await until('no slot in use', async () => (await inUse()) === 0)
  })
})

test('a malformed handshake takes no slot, so that it is not counted as a connection', async () => {
  let opened = 0
  const counted = await openStreamFixture({
    change: ({ slots }) => ({
      slots: {
        ...slots,
        open: (...args) => {
          opened++
          return slots.open(...args)
        },
      },
    }),
  })
  const { secret } = await counted.issue()
  const ofProtocols = async (names: string): Promise<number> => {
    const headers = [...handshake, `Sec-WebSocket-Protocol: ${names}`]
    return (await ask(counted, request(`/v1/stream?api_key=${secret}`, headers))).status
  }
  for (const names of ['a,,a', 'a,a', 'a b', '']) expect(await ofProtocols(names)).toBe(400)
  expect(opened).toBe(0)
  await counted.close()
})

test('of many simultaneous upgrades exactly as many as the cap succeed', async () => {
  const { secret, inUse } = await fixture.issue({
    limits: { rpm: 1, rpd: 1, wsConnections: 5, wsSymbols: 1 },
  })
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => fixture.connect(secret)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  expect(await inUse()).toBe(5)
})

test('an unknown outcome of the slots is 503 SERVER_ERROR with Retry-After', async () => {
  const broken = await openStreamFixture({
    change: ({ slots }) => ({
      slots: { ...slots, open: () => Promise.reject(new Unavailable('slots')) },
    }),
  })
  const { secret } = await broken.issue()
  const answer = await ask(broken, request(`/v1/stream?api_key=${secret}`))
  expect([answer.status, answer.body.error.code]).toEqual([503, 'SERVER_ERROR'])
  expect(answer.head).toContain('\r\nRetry-After: 2')
  expect(await broken.metric('fxd_stream_slot_failures_total{call="open"}')).toBe(1)
  await broken.close()
})

describe('a failure of the service is SERVER_ERROR', () => {
  const doubled = '/v1/stream?api_key=a&api_key=a'

  test('without a registry, for any key, with Retry-After', async () => {
    const unloaded = await openStreamFixture({ unloaded: true })
    for (const target of [doubled, '/v1/stream']) {
      const answer = await ask(unloaded, request(target))
      expect([answer.status, answer.body.error.code]).toEqual([500, 'SERVER_ERROR'])
      expect(answer.head).toContain('\r\nRetry-After: 2')
    }
    await unloaded.close()
  })

  test('without Retry-After if a retry cannot help', async () => {
    const broken = await openStreamFixture({
      change: ({ slots }) => ({ slots: { ...slots, open: () => Promise.reject(new Error('a defect')) } }),
    })
    const answer = await ask(broken, request(`/v1/stream?api_key=${(await broken.issue()).secret}`))
    expect([answer.status, answer.body.error.code]).toEqual([500, 'SERVER_ERROR'])
    expect(answer.head).not.toContain('Retry-After')
    await broken.close()
  })

  test('after the 101: the socket is cut and the slot is freed', async () => {
    let fail = (): void => undefined
    const broken = await openStreamFixture({
      change: ({ slots }) => ({
        slots: {
          ...slots,
          async open(...args) {
            const outcome = await slots.open(...args)
            fail()
            return outcome
          },
        },
      }),
    })
    const { secret, inUse } = await broken.issue()
    const view = broken.registry.view.bind(broken.registry)
    fail = () => {
      broken.registry.view = () => {
        throw new Error('a defect')
      }
    }
    const socket = await broken.dial()
    socket.write(request(`/v1/stream?api_key=${secret}`))
    const seen: Buffer[] = []
    socket.on('data', (part: Buffer) => seen.push(part))
    await once(socket, 'close')
    broken.registry.view = view
    expect(String(Buffer.concat(seen))).not.toContain('SERVER_ERROR')
    await until('the slot to be free', async () => (await inUse()) === 0)
    expect(broken.stream.load().connections).toBe(0)
    expect(await broken.metric('fxd_stream_upgrades_total{outcome="opened"}')).toBe(0)
    await broken.close()
  })
})

test('no upgrade request is answered 5xx, ends the process or keeps a slot in use', {
  timeout: 60_000 * Math.max(1, effort),
}, async () => {
  const { secret, inUse } = await fixture.issue()
  const targets = fc.oneof(
    fc.constantFrom(
      '/v1/stream',
      `/v1/stream?api_key=${secret}`,
      '*',
      '/',
      '//',
      'http://x/v1/stream',
      '/v1/stream#',
    ),
    fc.webPath().map((path) => path || '/'),
    fc.string({ unit: fc.constantFrom(...'/?&=%#a0_.-:@'.split('')) }).map((text) => `/v1/stream?${text}`),
  )
  const headers = fc.array(
    fc.oneof(
      fc.constantFrom(
        ...handshake,
        'Sec-WebSocket-Key: x',
        'Sec-WebSocket-Extensions: permessage-deflate; x=""',
        'Sec-WebSocket-Protocol: ;',
        'Connection: close',
        'Upgrade: websocket, h2c',
        'Content-Length: 5',
        'Transfer-Encoding: chunked',
        'Expect: 100-continue',
        'Authorization: Bearer',
        `X-API-Key: ${secret}`,
      ),
      fc
        .tuple(fc.constantFrom('X-Forwarded-For', 'Sec-WebSocket-Key', 'X-Api-Key', 'Origin'), fc.string())
        .map(([name, value]) => `${name}: ${value}`),
    ),
  )
  const methods = fc.constantFrom('GET', 'GET', 'GET', 'POST', 'HEAD', 'CONNECT', 'get', '')
  const tail = fc.constantFrom('', 'hello', '\x81\x80\0\0\0\0', '\x88\x00', '\xff'.repeat(50))
  await fc.assert(
    fc.asyncProperty(targets, headers, methods, tail, async (target, lines, method, rest) => {
      const socket = await fixture.dial()
      const seen: Buffer[] = []
      socket.on('data', (part: Buffer) => seen.push(part))
      socket.write(request(target, [...handshake.slice(0, 3), ...lines], method) + rest, 'latin1')
      socket.end()
      await once(socket, 'close')
      expect(Buffer.concat(seen).toString('latin1')).not.toMatch(/^HTTP\/1\.1 5/)
    }),
    { numRuns: Math.ceil(1_500 * effort) },
  )
  await until('no slot in use', async () => (await inUse()) === 0)
  const socket = await fixture.connect(secret)
  await socket.settled()
})
