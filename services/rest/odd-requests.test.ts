import { connect } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { effort } from '../../test/support/effort.ts'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../test/support/fixtures/rest-fixture.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture()
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aFeed('BROKERB', 'LIVE'),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aSymbol('BROKERA:ZERO:__proto__'),
    aKey(1, ['BROKERA:ZERO']),
  )
  for (const resolution of ['1', '60', '1M'] as const) {
    await edge.store('BROKERA:ZERO:EURUSD', resolution, [aBar(0), aBar(3_600), aBar(2_678_400)])
  }
})
afterAll(() => edge.close())

const hostile = [
  '__proto__',
  'constructor',
  'toString',
  '%',
  '%00',
  '%ff',
  '%F0%9F%92%A9',
  "' OR 1=1 --",
  '../../etc/passwd',
  '\u0000',
  '9007199254740993',
  '-1',
  '1e400',
  'NaN',
  '[object Object]',
  'BROKERA:ZERO:EURUSD',
  'BROKERA:ZERO:__proto__',
  'BROKERB:LIVE:EURUSD',
  ':::',
]
const value = fc.oneof(
  fc.constantFrom(...hostile),
  fc.integer().map(String),
  fc.string({ unit: 'binary', maxLength: 80 }),
)
const name = fc.oneof(
  fc.constantFrom(
    'symbol',
    'resolution',
    'from',
    'to',
    'countback',
    'search',
    'limit',
    'offset',
    'days',
    'api_key',
  ),
  fc.constantFrom('symbol[]', 'symbol[a]', '__proto__', 'constructor[prototype]', 'hasOwnProperty', ''),
  fc.string({ maxLength: 10 }),
)
const raw = (text: string): string =>
  text.replace(/[^!-~]|#/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
const path = fc.oneof(
  fc.constantFrom('/v1/symbols', '/v1/history', '/v1/coverage', '/v1/status', '/v1/usage', '/v1/config'),
  fc.constantFrom('/', '/openapi.json', '/v1/stream', '/v1', '//', '/v1/%', '/v1/%2e%2e/'),
  fc.webPath().map((text) => (text.startsWith('/') ? text : `/${text}`)),
)
const pair = fc.tuple(name, value, fc.boolean()).map(([key, text, asItIs]) => {
  const [left, right] = [encodeURIComponent(key.toWellFormed()), encodeURIComponent(text.toWellFormed())]
  return asItIs ? raw(`${key}=${text}`) : `${left}=${right}`
})
const target = fc
  .tuple(path, fc.array(pair, { maxLength: 6 }))
  .map(([base, pairs]) => `${base}?${pairs.join('&')}`)
const rightSoFar = fc.constantFrom(
  '',
  'symbol=BROKERA:ZERO:EURUSD&resolution=1&',
  'resolution=30&countback=10&',
)

test('thousands of odd requests get no answer of 5xx, and the service works afterwards', {
  timeout: 60_000 * Math.max(1, effort),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          target,
          prefix: rightSoFar,
          method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE', 'QUERY'),
          key: fc.constantFrom(1, 1, 1, undefined, 7),
          forwarded: fc.option(fc.constantFrom('1.2.3.4', 'x', ',,', '::1', '1.2.3.4:5'), { nil: undefined }),
          payload: fc.option(fc.constantFrom('{', '\u0000', 'a=b'), { nil: undefined, freq: 8 }),
        }),
        { minLength: 10, maxLength: 10 },
      ),
      async (requests) => {
        await Promise.all(
          requests.map(async ({ target: odd, prefix, method, key, forwarded, payload }) => {
            const answer = await edge.ask(odd.replace('?', `?${prefix}`), {
              method,
              ...(key !== undefined && { key }),
              ...(payload !== undefined && { payload }),
              headers: {
                ...(forwarded !== undefined && { 'X-Forwarded-For': forwarded }),
                ...(payload !== undefined && { 'Content-Length': String(payload.length) }),
              },
            })
            expect(answer.status, odd).toBeLessThan(500)
          }),
        )
      },
    ),
    { numRuns: 200 * effort },
  )
  expect((await edge.ask('/v1/status', { key: 1 })).status).toBe(200)
})

test('odd bytes on the wire get no 5xx, and the service works afterwards', {
  timeout: 60_000 * Math.max(1, effort),
}, async () => {
  const line = fc.constantFrom(
    'GET /v1/config HTTP/1.1',
    'GET /v1/status HTTP/1.0',
    'GET * HTTP/1.1',
    'OPTIONS * HTTP/1.1',
    'CONNECT /v1 HTTP/1.1',
    'GET http:// HTTP/1.1',
    'GET ?api_key HTTP/1.1',
    'GET /v1/config HTTP/2.0',
    'PRI * HTTP/2.0',
    'G\u0000T / HTTP/1.1',
  )
  const header = fc.oneof(
    fc.constantFrom(
      'Host: x',
      'Host: x',
      'Content-Length: -1',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'Transfer-Encoding: gzip, chunked',
      'Expect: 100-continue',
      'Expect: miracles',
      'Upgrade: websocket',
      'Upgrade: h2c',
      'Connection: Upgrade',
      'Connection: close',
      `X-API-Key: ${secretOf(1)}`,
      'X-API-Key: \u00ff',
      'Authorization: Bearer',
    ),
    fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  )
  await fc.assert(
    fc.asyncProperty(line, fc.array(header, { maxLength: 6 }), fc.string(), async (first, headers, body) => {
      const text = await new Promise<string>((resolve) => {
        let got = ''
        const socket = connect(edge.port, '127.0.0.1')
        socket.on('data', (part) => (got += String(part)))
        socket.on('error', () => resolve(got)).on('close', () => resolve(got))
        socket.end(`${[first, ...headers, '', ''].join('\r\n')}${body}`, 'latin1')
      })
      expect(text).not.toMatch(/HTTP\/1\.1 5/)
    }),
    { numRuns: 500 * effort },
  )
  expect((await edge.ask('/v1/config')).status).toBe(200)
})

test('no answer names a feed that the key was not granted', async () => {
  const mentions = fc.constantFrom('BROKERB:LIVE:EURUSD', 'BROKERA:ZERO:EURUSD', 'LIVE', '', 'EURUSD')
  await fc.assert(
    fc.asyncProperty(path, mentions, mentions, async (base, symbol, search) => {
      const query = new URLSearchParams({ symbol, search, resolution: '1', countback: '1' })
      const { text, status } = await edge.ask(`${base}?${query.toString()}`, { key: 1 })
      // Only the refusal names the feed, to the client that requested it.
      if (status !== 403) expect(text).not.toContain('BROKERB:LIVE')
      else expect(symbol).toContain('BROKERB:LIVE')
    }),
    { numRuns: 300 * effort },
  )
})
