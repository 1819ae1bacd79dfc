import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask, rateHeaders, read, refusedUpgrade } from './client/http.ts'
import { type IssuedKey, issueKey, keysCommand, revokeKey, showKey, updateKey } from './client/keys.ts'
import { withinOneMinute } from './client/minute.ts'
import { closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

const unknownKey = `fxd_${'0123456789abcdef'.repeat(2)}`
const inForceMs = 5000

let issued: IssuedKey
let key = ''
beforeAll(async () => {
  issued = await issueKey()
  key = issued.key
})
afterEach(closeSockets)
const ok = async (path: string, headers: Record<string, string> = {}) =>
  expect((await ask(path, { headers })).status).toBe(200)
const refused = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await ask(path, { headers })
  return { status: answer.status, ...answer.body.error }
}
/** Waits until a confirmed change takes effect; the deadline is the promised 5 s. */
const becomes = (secret: string, code: string) =>
  until(
    `${code} for the key`,
    async () => {
      const answer = await refused('/v1/status', { 'X-API-Key': secret })
      return answer.code === code && answer
    },
    inForceMs,
  )

describe('three ways to pass the key', () => {
  test('a key in the X-API-Key header is accepted', () => ok('/v1/status', { 'X-API-Key': key }))

  test('a key in the Authorization header as a bearer is accepted', () =>
    ok('/v1/status', { Authorization: `Bearer ${key}` }))

  test('a key in the api_key query parameter is accepted', () => ok(`/v1/status?api_key=${key}`))

  test('the bearer scheme is accepted in any letter case', async () => {
    await ok('/v1/status', { Authorization: `bearer ${key}` })
    await ok('/v1/status', { Authorization: `BEARER ${key}` })
  })

  test('the X-API-Key header takes precedence over the bearer, and the bearer over the query', async () => {
    const bearer = `Bearer ${unknownKey}`
    await ok(`/v1/status?api_key=${unknownKey}`, { 'X-API-Key': key, Authorization: bearer })
    await ok(`/v1/status?api_key=${unknownKey}`, { Authorization: `Bearer ${key}` })
    const wrongHeader = await refused(`/v1/status?api_key=${key}`, { 'X-API-Key': unknownKey })
    expect(wrongHeader).toMatchObject({ status: 401, code: 'KEY_INVALID' })
    const wrongBearer = await refused(`/v1/status?api_key=${key}`, { Authorization: bearer })
    expect(wrongBearer).toMatchObject({ status: 401, code: 'KEY_INVALID' })
  })

  test('an empty value counts as absent', async () => {
    await ok(`/v1/status?api_key=${key}`, { 'X-API-Key': '' })
    await ok('/v1/status?api_key=', { 'X-API-Key': key })
    expect(await refused('/v1/status?api_key=')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test('an authorization scheme other than bearer counts as no key', async () => {
    const basic = { Authorization: `Basic ${Buffer.from(`user:${key}`).toString('base64')}` }
    expect(await refused('/v1/status', basic)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test('a repeated api_key is an invalid key', async () => {
    const path = `/v1/status?api_key=${key}&api_key=${key}`
    expect(await refused(path)).toMatchObject({ status: 401, code: 'KEY_INVALID' })
  })
})

describe('refusals', () => {
  const endpoints = ['/v1/symbols', '/v1/history', '/v1/coverage', '/v1/status', '/v1/usage']

  test.for(endpoints)('%s needs a key', async (path) => {
    expect(await refused(path)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
  })

  test.for(endpoints)('%s refuses a key that was never issued', async (path) => {
    expect(await refused(path, { 'X-API-Key': unknownKey })).toMatchObject({
      status: 401,
      code: 'KEY_INVALID',
    })
  })

  test('a key of another format is KEY_INVALID, whatever its content', async () => {
    for (const odd of ['x', key.toUpperCase(), `${key}0`, key.slice(0, -1), '__proto__', "' OR 1=1 --"]) {
      expect(await refused('/v1/status', { 'X-API-Key': odd })).toMatchObject({
        status: 401,
        code: 'KEY_INVALID',
      })
    }
  })

  test('an unauthenticated answer carries no rate-limit headers', async () => {
    const answer = await ask('/v1/status', { key: unknownKey })
    for (const name of rateHeaders) expect(answer.headers).not.toHaveProperty(name.toLowerCase())
  })

  test('a revoked key is KEY_INACTIVE within five seconds', async () => {
    const other = await issueKey()
    await ok('/v1/status', { 'X-API-Key': other.key })
    await revokeKey(other.id)
    expect(await becomes(other.key, 'KEY_INACTIVE')).toMatchObject({ status: 401 })
  })

  test('a key past its expiry date becomes KEY_EXPIRED automatically', async () => {
    const soon = new Date(Date.now() + 4000).toISOString()
    const other = await issueKey({ expires: soon })
    const early: number[] = []
    await until('the expiry', async () => {
      const answer = await ask('/v1/status', { key: other.key })
      if (Date.now() < Date.parse(soon)) early.push(answer.status)
      return answer.status === 401 && answer.body.error.code === 'KEY_EXPIRED'
    })
    expect(early.filter((status) => status !== 200)).toEqual([])
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(soon))
  })

  test('an expiry date lasts to the end of that UTC day', async () => {
    const today = new Date().toISOString().slice(0, 10)
    const other = await issueKey({ expires: today })
    if (today === new Date().toISOString().slice(0, 10)) await ok('/v1/status', { 'X-API-Key': other.key })
    const shown = JSON.stringify(await showKey(other.id))
    expect(shown).toContain(new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10))
  })

  test('a key that is revoked and expired is KEY_INACTIVE', async () => {
    const end = Date.now() + 4000
    const other = await issueKey({ expires: new Date(end).toISOString() })
    await revokeKey(other.id)
    await becomes(other.key, 'KEY_INACTIVE')
    await until('the expiry', () => Date.now() > end)
    expect(await refused('/v1/status', { 'X-API-Key': other.key })).toMatchObject({ code: 'KEY_INACTIVE' })
  })
})

describe('the allowlist', () => {
  const elsewhere = ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32']
  const proxied = (secret: string, forwarded: string, from = '127.0.0.2') =>
    ask('/v1/status', { key: secret, from, headers: { 'X-Forwarded-For': forwarded } })

  test('an address that is not listed is 401 on REST', async () => {
    const { key: secret } = await issueKey({ allowIp: elsewhere })
    expect(await refused('/v1/status', { 'X-API-Key': secret })).toMatchObject({
      status: 401,
      code: 'IP_NOT_ALLOWED',
    })
  })

  test('an address that is not listed is 403 on an upgrade', async () => {
    const { key: secret } = await issueKey({ allowIp: elsewhere })
    const answer = await refusedUpgrade(`/v1/stream?api_key=${secret}`)
    expect(answer.status).toBe(403)
    expect(answer.body.error.code).toBe('IP_NOT_ALLOWED')
  })

  test('a listed address and a listed block are accepted, on REST and on an upgrade', async () => {
    for (const allowIp of [['127.0.0.1'], ['127.0.0.0/8'], [...elsewhere, '127.0.0.1/32']]) {
      const { key: secret } = await issueKey({ allowIp })
      await ok('/v1/status', { 'X-API-Key': secret })
      await (await connect(secret)).close()
    }
  })

  test('behind a trusted proxy the client address is taken from the forwarded chain', async () => {
    const { key: secret } = await issueKey({ allowIp: elsewhere })
    for (const client of ['203.0.113.7', '198.51.100.200', '2001:db8::17', '::ffff:203.0.113.7']) {
      expect((await proxied(secret, client)).status, client).toBe(200)
    }
    for (const client of ['203.0.113.8', '198.51.101.1', '2001:db9::1', '127.0.0.1']) {
      expect((await proxied(secret, client)).status, client).toBe(401)
    }
  })

  test('a forwarded chain from any other peer is ignored', async () => {
    const { key: secret } = await issueKey({ allowIp: elsewhere })
    expect((await proxied(secret, '203.0.113.7', '127.0.0.1')).status).toBe(401)
    expect((await proxied(secret, '203.0.113.7', '127.0.0.3')).status).toBe(401)
  })

  test('addresses that a client put at the head of the chain are ignored', async () => {
    const { key: secret } = await issueKey({ allowIp: elsewhere })
    expect((await proxied(secret, '203.0.113.7, 192.0.2.99')).status).toBe(401)
    expect((await proxied(secret, '192.0.2.99, 203.0.113.7')).status).toBe(200)
  })

  test('an allowlist entry that is neither an address nor a block is refused when the key is created', async () => {
    for (const wrong of ['localhost', '10.0.0.0/33', '300.1.1.1', '2001:db8::/129']) {
      const outcome = await keysCommand('create', ['--json'], {
        plan: 'basic',
        feeds: ['BROKERA:ZERO'],
        allowIp: [wrong],
      })
      expect(outcome.code, wrong).not.toBe(0)
      expect(outcome.stderr).toContain(wrong)
    }
  })

  test('a changed allowlist takes effect within five seconds', async () => {
    const made = await issueKey({ allowIp: elsewhere })
    expect((await ask('/v1/status', { key: made.key })).status).toBe(401)
    await updateKey(made.id, { allowIp: ['127.0.0.1'] })
    await until(
      'the address to be accepted',
      async () => (await ask('/v1/status', { key: made.key })).status === 200,
      inForceMs,
    )
  })
})

describe('the order of the checks', () => {
  const history = (parameters: string) => `/v1/history?${parameters}`

  test('the key is checked before the parameters', async () => {
    expect(await refused('/v1/symbols?limit=nonsense')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    expect(
      await refused('/v1/coverage?symbol=BROKERA:PRIME:EURUSD', { 'X-API-Key': unknownKey }),
    ).toMatchObject({
      code: 'KEY_INVALID',
    })
  })

  test('the revocation is checked before the address', async () => {
    const other = await issueKey({ allowIp: ['203.0.113.7'] })
    await becomes(other.key, 'IP_NOT_ALLOWED')
    await revokeKey(other.id)
    await becomes(other.key, 'KEY_INACTIVE')
  })

  test('the address is checked before the rate, and a refused address consumes nothing', async () => {
    const { key: secret, id } = await issueKey({ allowIp: ['203.0.113.7'], plan: 'basic', rpm: 1 })
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await refused('/v1/status', { 'X-API-Key': secret })).toMatchObject({ code: 'IP_NOT_ALLOWED' })
    }
    await updateKey(id, { allowIp: ['127.0.0.1'] })
    const first = await until('the address to be accepted', async () => {
      const answer = await ask('/v1/status', { key: secret })
      return answer.status !== 401 && answer
    })
    expect(first.status).toBe(200)
  })

  test('the rate is checked before the parameters', () =>
    withinOneMinute(async () => {
      const { key: secret } = await issueKey({ plan: 'basic', rpd: 1 })
      await read('/v1/status', secret)
      expect(await refused('/v1/symbols?limit=nonsense', { 'X-API-Key': secret })).toMatchObject({
        status: 429,
      })
    }))

  test('the parameters are checked before the grant', async () => {
    const path = history('symbol=BROKERA:PRIME:EURUSD&resolution=7&countback=1')
    expect(await refused(path, { 'X-API-Key': key })).toMatchObject({ status: 422, code: 'INVALID_PARAMS' })
  })

  test('the grant is checked before the symbol is looked up', async () => {
    const path = '/v1/symbols?symbol=BROKERA:PRIME:NOPE'
    expect(await refused(path, { 'X-API-Key': key })).toMatchObject({
      status: 403,
      code: 'SYMBOL_NOT_PERMITTED',
    })
  })
})

test('one key works on every endpoint', async () => {
  for (const path of ['/v1/symbols', '/v1/coverage', '/v1/status', '/v1/usage']) await read(path, key)
  await read('/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1', key)
  expect(issued.key).toMatch(/^fxd_[0-9a-f]{32}$/)
})
