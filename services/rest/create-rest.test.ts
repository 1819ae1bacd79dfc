import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../test/support/fixtures/rest-fixture.ts'
import { utcMs } from '../core/clocks/feed-clock.ts'

const start = Date.UTC(2026, 0, 5, 12, 0, 30)
const limits = { rpm: 2, rpd: 3, wsConnections: 1, wsSymbols: 1 }

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture({ start, trustedProxies: ['127.0.0.1'] })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aFeed('BROKERB', 'LIVE'),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aKey(1, ['BROKERA:ZERO']),
    aKey(2, ['BROKERA:ZERO'], { revoked: true, expiresAt: utcMs(1) }),
    aKey(3, ['BROKERA:ZERO'], { expiresAt: utcMs(start) }),
    aKey(4, ['BROKERA:ZERO'], { allowIps: ['203.0.113.0/24'] }),
    aKey(5, ['BROKERA:ZERO'], { limits }),
    aKey(6, ['BROKERA:ZERO'], { limits: { ...limits, rpm: 9 } }),
  )
  await edge.store('BROKERA:ZERO:EURUSD', '1', [aBar(60)])
})
afterAll(() => edge.close())

const endpoints = ['symbols', 'history', 'coverage', 'status', 'usage']
const paths = ['config', ...endpoints].map((name) => `/v1/${name}`)
const rateHeaders = [
  'X-RateLimit-Limit-Minute',
  'X-RateLimit-Remaining-Minute',
  'X-RateLimit-Reset-Minute',
  'X-RateLimit-Limit-Day',
  'X-RateLimit-Remaining-Day',
]

describe('the order of the checks', () => {
  test.each([
    ['no key', {}, '', 401, 'UNAUTHORIZED'],
    ['an unknown key', { key: 99 }, '', 401, 'KEY_INVALID'],
    ['a revoked and expired key', { key: 2 }, '', 401, 'KEY_INACTIVE'],
    ['an expired key', { key: 3 }, '', 401, 'KEY_EXPIRED'],
    ['an address that is not allowed', { key: 4 }, '', 401, 'IP_NOT_ALLOWED'],
  ])('%s', async (_, asked, query, status, code) => {
    for (const endpoint of endpoints) {
      const answer = await edge.ask(`/v1/${endpoint}?limit=x${query}`, asked)
      expect([answer.status, answer.body.error.code]).toEqual([status, code])
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      for (const name of rateHeaders) expect(answer.headers).not.toHaveProperty(name.toLowerCase())
    }
  })

  test('the address is checked before the rate, the rate before the parameters, these before the grant', async () => {
    expect((await edge.ask('/v1/symbols?limit=x&symbol=BROKERB:LIVE:X', { key: 1 })).status).toBe(422)
    expect((await edge.ask('/v1/symbols?symbol=BROKERB:LIVE:X', { key: 1 })).status).toBe(403)
    await edge.ask('/v1/status', { key: 5 })
    await edge.ask('/v1/status', { key: 5 })
    expect((await edge.ask('/v1/symbols?limit=x', { key: 5 })).status).toBe(429)
  })
})

describe('the client behind a proxy', () => {
  test.each([
    [{ 'X-Forwarded-For': '203.0.113.7' }, 200],
    [{ 'X-Forwarded-For': '198.51.100.1, 203.0.113.7' }, 200],
    [{ 'X-Forwarded-For': '203.0.113.7, 198.51.100.1' }, 401],
    [{ 'X-Forwarded-For': '::ffff:203.0.113.7' }, 200],
    [{ 'X-Real-IP': '203.0.113.7' }, 401],
    [{ Forwarded: 'for=203.0.113.7' }, 401],
    [{ 'X-Forwarded-For': ['203.0.113.7', '198.51.100.1'] }, 401],
  ])('a request with the headers %j is answered with %i', async (headers, status) => {
    expect((await edge.ask('/v1/status', { key: 4, headers })).status).toBe(status)
  })
})

describe('the rate headers', () => {
  test("have the specification's names and case on every authenticated answer", async () => {
    for (const target of [
      '/v1/status',
      '/v1/symbols?symbol=BROKERB:LIVE:X',
      '/v1/symbols?symbol=BROKERA:ZERO:X',
      '/v1/symbols?limit=x',
      '/v1/history',
    ]) {
      const { rawHeaders } = await edge.ask(target, { key: 1 })
      expect(rawHeaders).toEqual(expect.arrayContaining(rateHeaders))
    }
  })

  test('a refused request has them with the exceeded window and Retry-After, and consumes nothing', async () => {
    await edge.clock.advance(60_000)
    for (const left of [8, 7, 6]) {
      const { headers } = await edge.ask('/v1/status', { key: 6 })
      expect(headers['x-ratelimit-remaining-minute']).toBe(String(left))
    }
    const { status, body, rawHeaders, headers } = await edge.ask('/v1/history', { key: 6 })
    expect(status).toBe(429)
    expect(rawHeaders).toEqual(
      expect.arrayContaining([...rateHeaders, 'Retry-After', 'X-RateLimit-Exceeded']),
    )
    expect(headers).toMatchObject({
      'x-ratelimit-limit-minute': '9',
      'x-ratelimit-remaining-minute': '6',
      'x-ratelimit-reset-minute': String((start + 90_000) / 1_000),
      'x-ratelimit-limit-day': '3',
      'x-ratelimit-remaining-day': '0',
      'x-ratelimit-exceeded': 'day',
      'retry-after': String(12 * 3_600 - 90),
    })
    const message = `The limit of 3 requests per day is exceeded; try again in ${12 * 3_600 - 90} seconds.`
    const error = { code: 'RATE_LIMIT_EXCEEDED', message }
    expect(body).toEqual({ s: 'error', errmsg: message, error })
  })
})

describe('paths and methods', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/status/',
    '/V1/status',
    '/v2/status',
    '/v1//status',
    '/v1/%73tatus',
  ])('%s is 404 NOT_FOUND', async (path) => {
    const { status, body } = await edge.ask(path, { key: 1 })
    expect([status, body]).toEqual([404, { error: { code: 'NOT_FOUND', message: 'There is no such path.' } }])
  })

  test.each(['/%', '/%zz', '/v1/%ff', '/v1/status%', '*', '/v1/status;x=1', '//', '/v1/../v1/status'])(
    '%s is 404, not an error of the framework',
    async (path) => expect((await edge.ask(path)).body.error.code).toBe('NOT_FOUND'),
  )

  test('an absolute target is answered like its path', async () => {
    expect((await edge.ask('http://elsewhere.example/v1/status', { key: 1 })).status).toBe(200)
  })

  test.each(paths)('%s answers other methods with 405 and Allow', async (path) => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
      const payload = method === 'TRACE' ? '' : '{"broken":'
      const answer = await edge.ask(path, {
        method,
        payload,
        headers: { 'Content-Type': 'application/json' },
        key: 1,
      })
      expect([answer.status, answer.body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
      expect(answer.rawHeaders[answer.rawHeaders.indexOf('Allow') + 1]).toBe('GET, HEAD, OPTIONS')
    }
  })

  test.each(paths)('OPTIONS %s is 204 without key, count or body, and allows any page', async (path) => {
    const answer = await edge.ask(path, { method: 'OPTIONS', headers: { Origin: 'https://chart.example' } })
    expect([answer.status, answer.text]).toEqual([204, ''])
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, OPTIONS',
      'access-control-allow-headers': 'X-API-Key, Authorization, Content-Type',
    })
  })

  test.each([...paths, '/', '/openapi.json', '/v1/nothing'])('HEAD %s is like GET', async (path) => {
    const [got, head] = [await edge.ask(path, { key: 1 }), await edge.ask(path, { key: 1, method: 'HEAD' })]
    expect([head.status, head.text]).toEqual([got.status, ''])
    const names = (raw: readonly string[]) =>
      raw.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    expect(names(head.rawHeaders).toSorted()).toEqual(names(got.rawHeaders).toSorted())
  })

  test('HEAD counts as GET does', async () => {
    await edge.register(aKey(7, []))
    await edge.ask('/v1/status', { key: 7, method: 'HEAD' })
    expect((await edge.ask('/v1/usage', { key: 7 })).body.today).toMatchObject({ requests: 2, status: 1 })
  })

  test('/v1/stream without an upgrade is 426', async () => {
    const { status, body, headers } = await edge.ask('/v1/stream')
    expect([status, body.error.code, headers.upgrade]).toEqual([426, 'UPGRADE_REQUIRED', 'websocket'])
  })
})

describe('every answer', () => {
  test.each([...paths, '/v1/nothing', '/v1/stream', '/openapi.json'])(
    '%s is JSON, is not cached, is readable by any page and has an id',
    async (path) => {
      const { headers, rawHeaders } = await edge.ask(path, { key: 1 })
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'access-control-allow-origin': '*',
      })
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{16}$/)
      const exposed = rawHeaders[rawHeaders.indexOf('Access-Control-Expose-Headers') + 1]
      for (const name of [...rateHeaders, 'Retry-After', 'X-RateLimit-Exceeded'])
        expect(exposed).toContain(name)
    },
  )
})

describe('bodies', () => {
  test.each(paths)('%s refuses one on GET with 422 and keeps the connection', async (path) => {
    for (const payload of ['{', 'x'.repeat(70_000)]) {
      const answer = await edge.ask(path, {
        key: 1,
        payload,
        headers: { 'Content-Length': String(payload.length) },
      })
      expect([answer.status, answer.body.error.code]).toEqual([422, 'INVALID_PARAMS'])
      expect(answer.headers.connection).toBe('close')
    }
    expect((await edge.ask(path, { key: 1, headers: { 'Content-Length': '0' } })).status).not.toBe(500)
  })

  test('one in chunks is refused too', async () => {
    const headers = { 'Transfer-Encoding': 'chunked', 'Content-Type': 'multipart/form-data' }
    expect((await edge.ask('/v1/status', { key: 1, payload: 'x', headers })).status).toBe(422)
  })

  test('the next request on the connection is read as a separate request', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(edge.port, '127.0.0.1')
      socket
        .on('data', (part) => (text += String(part)))
        .on('close', () => resolve(text))
        .on('error', reject)
      socket.write('GET /v1/config HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n{"a"')
      socket.write('GET /v1/stream HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    })
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 422', 'HTTP/1.1 426'])
  })
})

test('no key appears in a log line or a metric, wherever a client puts it', async () => {
  const secret = secretOf(0xabcdef)
  for (const target of [
    `/v1/status?api_key=${secret}`,
    `/v1/nothing?api_key=${secret}`,
    `/${secret}`,
    `/%zz${secret}?api_key=${secret}`,
    `/v1/history?symbol=${secret}&resolution=${secret}&api_key=${secretOf(1)}`,
    `/v1/symbols?search=${secret}`,
    `/v1/status?api_key=${secret}&api_key=${secret}`,
    `http://${secret}/v1/status?api_key=${secretOf(1)}`,
  ]) {
    const headers = { 'X-Request-Id': secret, Referer: `http://x/?api_key=${secret}`, 'User-Agent': secret }
    for (const method of ['GET', 'POST', 'HEAD']) {
      const { text } = await edge.ask(target, { method, headers })
      expect(text).not.toMatch(/fxd_[0-9a-f]{32}/)
    }
  }
  await edge.ask('/v1/status', { headers: { Authorization: `Bearer ${secret}` } })
  const lines = edge.logged.join('')
  expect(lines).toContain('"route":"/v1/status"')
  expect(lines).not.toMatch(/fxd_[0-9a-f]{32}/)
  expect(lines).not.toContain('api_key')
  expect(await edge.metrics()).not.toMatch(/fxd_[0-9a-f]{32}/)
})

test('requests are measured by the template of their route, with buckets at 0.1 and 0.2 seconds', async () => {
  await edge.ask('/v1/status?x=1', { key: 1 })
  const text = await edge.metrics()
  for (const edgeSeconds of ['0.1', '0.2']) {
    expect(text).toContain(
      `fxd_http_request_duration_seconds_bucket{le="${edgeSeconds}",route="/v1/status",method="GET",status="200"}`,
    )
  }
  expect(text).toMatch(/^fxd_http_requests_under_way 0$/m)
})
