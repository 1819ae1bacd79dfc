import { beforeAll, describe, expect, test } from 'vitest'
import { utcNow } from './client/clocks.ts'
import { ask, headerNames, rate, rateHeaders, read } from './client/http.ts'
import { issueKey, updateKey } from './client/keys.ts'
import { withinOneMinute } from './client/minute.ts'
import { until } from './client/until.ts'

const make = async (rpm: number, rpd: number) => (await issueKey({ plan: 'basic', rpm, rpd })).key
const status = (key: string) => ask('/v1/status', { key })
const secondsToMidnight = () => 86_400 - (utcNow() % 86_400)

let unlimited = ''
beforeAll(async () => {
  unlimited = (await issueKey()).key
})

describe('the headers', () => {
  test('every authenticated answer carries all five headers, refused ones included', () =>
    withinOneMinute(async () => {
      const key = await make(1000, 6)
      const paths = {
        '/v1/status': 200,
        '/v1/symbols?symbol=BROKERA:PRIME:EURUSD': 403,
        '/v1/symbols?symbol=BROKERA:ZERO:NOPE': 404,
        '/v1/symbols?limit=0': 422,
        '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1': 422,
        '/v1/usage': 200,
        '/v1/coverage': 429,
      }
      for (const [path, code] of Object.entries(paths)) {
        const answer = await ask(path, { key })
        expect(answer.status, path).toBe(code)
        for (const name of rateHeaders)
          expect(Number.isInteger(rate(answer, name)), `${path} ${name}`).toBe(true)
      }
    }))

  test('the headers are spelled as in the specification', async () => {
    expect(headerNames(await status(unlimited))).toEqual(expect.arrayContaining([...rateHeaders]))
  })

  test('the two limits are those of the key', async () => {
    const answer = await status(await make(17, 1234))
    expect(rate(answer, 'X-RateLimit-Limit-Minute')).toBe(17)
    expect(rate(answer, 'X-RateLimit-Limit-Day')).toBe(1234)
  })

  test('both remainders fall by one with each request', () =>
    withinOneMinute(async () => {
      const key = await make(10, 100)
      for (const used of [1, 2, 3]) {
        const answer = await status(key)
        expect(rate(answer, 'X-RateLimit-Remaining-Minute')).toBe(10 - used)
        expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(100 - used)
      }
    }))

  test('the minute resets at the next full UTC minute', async () => {
    const before = utcNow()
    const reset = rate(await status(unlimited), 'X-RateLimit-Reset-Minute')
    expect(reset % 60).toBe(0)
    expect(reset).toBeGreaterThan(before)
    expect(reset).toBeLessThanOrEqual(utcNow() + 60)
  })

  test('pages of any origin may read the headers', async () => {
    const answer = await ask('/v1/status', { key: unlimited, headers: { Origin: 'https://chart.example' } })
    const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase()
    for (const name of [...rateHeaders, 'Retry-After', 'X-RateLimit-Exceeded']) {
      expect(exposed).toContain(name.toLowerCase())
    }
  })
})

describe('the minute window', () => {
  test('exactly as many requests as the limit are admitted', () =>
    withinOneMinute(async () => {
      const key = await make(5, 1000)
      const answers = await Promise.all(Array.from({ length: 12 }, () => status(key)))
      expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(5)
      expect(answers.filter(({ status: code }) => code === 429)).toHaveLength(7)
    }))

  test('the refusal is RATE_LIMIT_EXCEEDED and names the window and the seconds to wait', () =>
    withinOneMinute(async () => {
      const key = await make(1, 1000)
      await read('/v1/status', key)
      const answer = await status(key)
      expect(answer.status).toBe(429)
      expect(answer.body.error.code).toBe('RATE_LIMIT_EXCEEDED')
      expect(answer.body.error.message).toContain('minute')
      expect(answer.body.error.message).toContain(answer.headers['retry-after'])
    }))

  test('Retry-After counts to the reset of the minute and X-RateLimit-Exceeded is minute', () =>
    withinOneMinute(async () => {
      const key = await make(1, 1000)
      await read('/v1/status', key)
      const asked = Date.now() / 1000
      const answer = await status(key)
      expect(headerNames(answer)).toEqual(expect.arrayContaining(['Retry-After', 'X-RateLimit-Exceeded']))
      expect(answer.headers['x-ratelimit-exceeded']).toBe('minute')
      const wait = Number(answer.headers['retry-after'])
      const reset = rate(answer, 'X-RateLimit-Reset-Minute')
      expect(wait).toBeGreaterThanOrEqual(Math.max(1, Math.floor(reset - Date.now() / 1000)))
      expect(wait).toBeLessThanOrEqual(Math.ceil(reset - asked) + 1)
    }))

  test('a refused request consumes nothing of either window', () =>
    withinOneMinute(async () => {
      const key = await make(2, 1000)
      await read('/v1/status', key)
      await read('/v1/status', key)
      for (let again = 0; again < 3; again++) {
        const answer = await status(key)
        expect(answer.status).toBe(429)
        expect(rate(answer, 'X-RateLimit-Remaining-Minute')).toBe(0)
        expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(998)
      }
    }))

  test('403, 404 and 422 consume like any answer', () =>
    withinOneMinute(async () => {
      const key = await make(100, 1000)
      await ask('/v1/symbols?symbol=BROKERA:PRIME:EURUSD', { key })
      await ask('/v1/symbols?symbol=BROKERA:ZERO:NOPE', { key })
      await ask('/v1/symbols?limit=0', { key })
      const answer = await status(key)
      expect(rate(answer, 'X-RateLimit-Remaining-Minute')).toBe(96)
      expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(996)
    }))

  test('every endpoint that needs a key counts in the minute window', () =>
    withinOneMinute(async () => {
      const key = await make(100, 1000)
      const paths = ['/v1/symbols', '/v1/coverage', '/v1/usage', '/v1/status']
      for (const path of [...paths, '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1']) {
        await read(path, key)
      }
      expect(rate(await status(key), 'X-RateLimit-Remaining-Minute')).toBe(94)
    }))

  test('each key has its own windows', () =>
    withinOneMinute(async () => {
      const [first, second] = await Promise.all([make(1, 10), make(1, 10)])
      await read('/v1/status', first)
      expect((await status(first)).status).toBe(429)
      expect((await status(second)).status).toBe(200)
    }))
})

describe('the day window', () => {
  test('the day window admits exactly its limit, then refuses with 429 naming day', () =>
    withinOneMinute(async () => {
      const key = await make(1000, 3)
      const answers = await Promise.all(Array.from({ length: 6 }, () => status(key)))
      expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(3)
      const refused = await status(key)
      expect(refused.status).toBe(429)
      expect(refused.headers['x-ratelimit-exceeded']).toBe('day')
      expect(refused.body.error.message).toContain('day')
    }))

  test('Retry-After counts to midnight UTC', () =>
    withinOneMinute(async () => {
      const key = await make(1000, 1)
      await read('/v1/status', key)
      const before = secondsToMidnight()
      const answer = await status(key)
      const wait = Number(answer.headers['retry-after'])
      expect(wait).toBeGreaterThanOrEqual(secondsToMidnight() - 1)
      expect(wait).toBeLessThanOrEqual(before + 2)
      expect(rate(answer, 'X-RateLimit-Remaining-Day')).toBe(0)
    }))

  test('when both windows are full the one that reopens last is named', () =>
    withinOneMinute(async () => {
      const key = await make(2, 2)
      await read('/v1/status', key)
      await read('/v1/status', key)
      const answer = await status(key)
      expect(answer.headers['x-ratelimit-exceeded']).toBe('day')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(Math.min(60, secondsToMidnight() - 3))
    }))
})

describe('the config', () => {
  test('the config with a valid key carries the headers and consumes nothing', () =>
    withinOneMinute(async () => {
      const key = await make(10, 100)
      await read('/v1/status', key)
      const answer = await ask('/v1/config', { key })
      expect(rate(answer, 'X-RateLimit-Remaining-Minute')).toBe(9)
      expect(rate(await status(key), 'X-RateLimit-Remaining-Minute')).toBe(8)
      expect(rate(await ask('/v1/config', { key }), 'X-RateLimit-Remaining-Day')).toBe(98)
    }))

  test('the config is never refused, even when the windows are full', () =>
    withinOneMinute(async () => {
      const key = await make(1, 100)
      await read('/v1/status', key)
      expect((await status(key)).status).toBe(429)
      expect((await ask('/v1/config', { key })).status).toBe(200)
    }))

  test('the config without a key has no rate-limit headers', async () => {
    const answer = await ask('/v1/config')
    for (const name of rateHeaders) expect(answer.headers).not.toHaveProperty(name.toLowerCase())
  })
})

test('a changed limit takes effect within five seconds', async () => {
  const made = await issueKey({ plan: 'basic', rpm: 5 })
  await updateKey(made.id, { rpm: 77 })
  const seen = async () => rate(await ask('/v1/config', { key: made.key }), 'X-RateLimit-Limit-Minute')
  await until('the new limit', async () => (await seen()) === 77, 5000)
})
