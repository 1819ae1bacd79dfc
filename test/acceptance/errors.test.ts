import { beforeAll, describe, expect, test } from 'vitest'
import { secondsOfDayLeft } from './client/day.ts'
import { type Answer, ask, type ErrorBody, headerNames, refusedUpgrade } from './client/http.ts'
import { type IssuedKey, issueKey, revokeKey } from './client/keys.ts'
import { closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

/** One key for each state in the error table. */
const keys = {} as Record<'good' | 'revoked' | 'expired' | 'elsewhere' | 'spent' | 'full', IssuedKey>

beforeAll(async () => {
  await secondsOfDayLeft(60)
  const expires = new Date(Date.now() + 8000).toISOString()
  const wanted = {
    good: {},
    revoked: {},
    expired: { expires },
    elsewhere: { allowIp: ['203.0.113.7'] },
    spent: { plan: 'basic', rpd: 1 },
    full: { plan: 'basic', wsConnections: 1 },
  }
  await Promise.all(
    Object.entries(wanted).map(async ([name, each]) => {
      keys[name as keyof typeof keys] = await issueKey(each)
    }),
  )
  await revokeKey(keys.revoked.id)
  await ask('/v1/status', { key: keys.spent.key })
  await connect(keys.full.key)
  const code = async (key: string) => (await ask('/v1/status', { key })).body.error?.code
  await until('the revocation', async () => (await code(keys.revoked.key)) === 'KEY_INACTIVE')
  await until('the expiry', async () => (await code(keys.expired.key)) === 'KEY_EXPIRED')
  return closeSockets
}, 180_000)

const unknown = `fxd_${'ab'.repeat(16)}`
const shape = (answer: Answer<ErrorBody>) => {
  expect(Object.keys(answer.body)).toEqual(['error'])
  expect(Object.keys(answer.body.error)).toEqual(['code', 'message'])
  expect(answer.body.error.message.length).toBeGreaterThan(5)
  return [answer.status, answer.body.error.code]
}

describe('REST: status, code and body of each row', () => {
  const rows: [string, () => Promise<Answer<ErrorBody>>, number, string][] = [
    ['no key', () => ask('/v1/status'), 401, 'UNAUTHORIZED'],
    ['a key not found', () => ask('/v1/status', { key: unknown }), 401, 'KEY_INVALID'],
    ['a revoked key', () => ask('/v1/status', { key: keys.revoked.key }), 401, 'KEY_INACTIVE'],
    ['an expired key', () => ask('/v1/status', { key: keys.expired.key }), 401, 'KEY_EXPIRED'],
    ['an address not allowed', () => ask('/v1/status', { key: keys.elsewhere.key }), 401, 'IP_NOT_ALLOWED'],
    [
      'a feed not granted, in symbols',
      () => ask('/v1/symbols?symbol=BROKERA:VIP:EURUSD', { key: keys.good.key }),
      403,
      'SYMBOL_NOT_PERMITTED',
    ],
    [
      'a feed not granted, in coverage',
      () => ask('/v1/coverage?symbol=BROKERA:VIP:EURUSD', { key: keys.good.key }),
      403,
      'SYMBOL_NOT_PERMITTED',
    ],
    [
      'a symbol not found, in symbols',
      () => ask('/v1/symbols?symbol=BROKERA:ZERO:NOPE', { key: keys.good.key }),
      404,
      'SYMBOL_NOT_FOUND',
    ],
    [
      'a symbol not found, in coverage',
      () => ask('/v1/coverage?symbol=BROKERA:ZERO:NOPE', { key: keys.good.key }),
      404,
      'SYMBOL_NOT_FOUND',
    ],
    ['invalid parameters', () => ask('/v1/symbols?limit=x', { key: keys.good.key }), 422, 'INVALID_PARAMS'],
    ['a spent limit', () => ask('/v1/status', { key: keys.spent.key }), 429, 'RATE_LIMIT_EXCEEDED'],
  ]

  test.for(rows)('REST: %s', async ([, asked, status, code]) => {
    expect(shape(await asked())).toEqual([status, code])
  })

  test('the 429 carries Retry-After and X-RateLimit-Exceeded', async () => {
    const names = headerNames(await ask('/v1/status', { key: keys.spent.key }))
    expect(names).toEqual(expect.arrayContaining(['Retry-After', 'X-RateLimit-Exceeded']))
  })
})

describe('history: each row in its own body', () => {
  const good = 'symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1'
  const rows: [string, () => string | undefined, string, number, string][] = [
    ['no key', () => undefined, good, 401, 'UNAUTHORIZED'],
    ['a key not found', () => unknown, good, 401, 'KEY_INVALID'],
    ['a revoked key', () => keys.revoked.key, good, 401, 'KEY_INACTIVE'],
    ['an expired key', () => keys.expired.key, good, 401, 'KEY_EXPIRED'],
    ['an address not allowed', () => keys.elsewhere.key, good, 401, 'IP_NOT_ALLOWED'],
    ['a feed not granted', () => keys.good.key, good.replace('ZERO', 'VIP'), 403, 'SYMBOL_NOT_PERMITTED'],
    ['missing parameters', () => keys.good.key, 'symbol=BROKERA:ZERO:BTCUSD', 422, 'INVALID_PARAMS'],
    ['a spent limit', () => keys.spent.key, good, 429, 'RATE_LIMIT_EXCEEDED'],
  ]

  test.for(rows)('history: %s', async ([, key, parameters, status, code]) => {
    const secret = key()
    const answer = await ask<ErrorBody & { s: string; errmsg: string }>(
      `/v1/history?${parameters}`,
      secret === undefined ? {} : { key: secret },
    )
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.body)).toEqual(['s', 'errmsg', 'error'])
    expect(answer.body).toMatchObject({ s: 'error', error: { code } })
    expect(answer.body.errmsg).toBe(answer.body.error.message)
  })
})

describe('upgrades: each row as an HTTP answer, before any socket exists', () => {
  const rows: [string, () => string, number, string][] = [
    ['no key', () => '', 401, 'UNAUTHORIZED'],
    ['a key not found', () => `?api_key=${unknown}`, 401, 'KEY_INVALID'],
    ['a revoked key', () => `?api_key=${keys.revoked.key}`, 401, 'KEY_INACTIVE'],
    ['an expired key', () => `?api_key=${keys.expired.key}`, 401, 'KEY_EXPIRED'],
    ['an address not allowed', () => `?api_key=${keys.elsewhere.key}`, 403, 'IP_NOT_ALLOWED'],
    ['the cap reached', () => `?api_key=${keys.full.key}`, 429, 'TOO_MANY_CONNECTIONS'],
  ]

  test.for(rows)('upgrade: %s', async ([, suffix, status, code]) => {
    const answer = await refusedUpgrade(`/v1/stream${suffix()}`)
    expect(shape(answer)).toEqual([status, code])
    expect(answer.headers.connection?.toLowerCase()).toBe('close')
    expect(answer.headers['content-type']).toMatch(/^application\/json/)
  })

  test('the 429 carries Retry-After and the cap and its use in headers spelled X-Ws-…', async () => {
    const answer = await refusedUpgrade(`/v1/stream?api_key=${keys.full.key}`)
    const names = ['Retry-After', 'X-Ws-Connections-Limit', 'X-Ws-Connections-In-Use']
    expect(headerNames(answer)).toEqual(expect.arrayContaining(names))
    expect(answer.headers['retry-after']).toBe('5')
    expect(answer.headers['x-ws-connections-limit']).toBe('1')
    expect(answer.headers['x-ws-connections-in-use']).toBe('1')
  })

  test('a used-up request limit does not refuse an upgrade', async () => {
    const socket = await connect(keys.spent.key)
    expect((await socket.next('connected')).type).toBe('connected')
    await socket.close()
  })

  test('an upgrade of another path is 404, and an upgrade to another protocol is refused', async () => {
    expect((await refusedUpgrade(`/v1/streams?api_key=${keys.good.key}`)).status).toBe(404)
    const headers = { Upgrade: 'h2c' }
    const other = await refusedUpgrade(`/v1/stream?api_key=${keys.good.key}`, { headers })
    expect(other.status).toBeGreaterThanOrEqual(400)
    expect(other.status).toBeLessThan(500)
  })
})
