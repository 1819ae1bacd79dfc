import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ask, read, refusedUpgrade } from './client/http.ts'
import { type IssuedKey, issueKey, rotateKey, updateKey } from './client/keys.ts'
import { closeSockets, connect } from './client/socket.ts'
import { until } from './client/until.ts'

const counterNames = [
  'requests',
  'history',
  'symbols',
  'coverage',
  'status',
  'config',
  'usage',
  'ws_connect',
  'ws_session',
  'rate_limited',
] as const
type Counters = Record<(typeof counterNames)[number], number>
interface Usage {
  api_key: string
  tier: string
  limits: { rpm: number; rpd: number; ws_connections: number; ws_symbols: number }
  current: { ws_connections_in_use: number }
  today: Counters
  history: (Counters & { date: string })[]
}

let issued: IssuedKey
beforeAll(async () => {
  issued = await issueKey()
})
afterEach(closeSockets)
const usage = (key = issued.key, days?: number) =>
  read<Usage>(days === undefined ? '/v1/usage' : `/v1/usage?days=${days}`, key)
const utcDay = (back = 0) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10)
/** Counters belong to a UTC day: a test that fails while the day changes runs again. */
const withinOneDay = async (body: () => Promise<void>) => {
  const day = utcDay()
  try {
    await body()
  } catch (failure) {
    if (utcDay() === day) throw failure
    await body()
  }
}

describe('the record', () => {
  test('fields of the record come in the order of the specification', async () => {
    const body = await usage()
    expect(Object.keys(body)).toEqual(['api_key', 'tier', 'limits', 'current', 'today', 'history'])
    expect(Object.keys(body.limits)).toEqual(['rpm', 'rpd', 'ws_connections', 'ws_symbols'])
    expect(Object.keys(body.current)).toEqual(['ws_connections_in_use'])
    expect(Object.keys(body.today)).toEqual([...counterNames])
    expect(Object.keys(body.history[0] ?? {}).toSorted()).toEqual(['date', ...counterNames].toSorted())
  })

  test('api_key is the first eight characters of the key and no more', async () => {
    expect((await usage()).api_key).toBe(issued.key.slice(0, 8))
    expect((await ask('/v1/usage', { key: issued.key })).text).not.toContain(issued.key.slice(0, 9))
  })

  const plans = {
    basic: { rpm: 30, rpd: 10_000, ws_connections: 2, ws_symbols: 200 },
    standard: { rpm: 120, rpd: 50_000, ws_connections: 10, ws_symbols: 200 },
    pro: { rpm: 600, rpd: 250_000, ws_connections: 30, ws_symbols: 500 },
  }
  test.for(Object.entries(plans))('the plan %s sets its default limits', async ([plan, limits]) => {
    const { key } = await issueKey({ plan })
    expect(await usage(key)).toMatchObject({ tier: plan, limits })
  })

  test('the four limits of an enterprise key are those given when it was created', async () => {
    const wanted = { plan: 'enterprise', rpm: 11, rpd: 22, wsConnections: 33, wsSymbols: 44 }
    const { key } = await issueKey(wanted)
    const limits = { rpm: 11, rpd: 22, ws_connections: 33, ws_symbols: 44 }
    expect(await usage(key)).toMatchObject({ tier: 'enterprise', limits })
  })

  test('a key may override every limit of its plan', async () => {
    const { key } = await issueKey({ plan: 'pro', rpm: 7, wsSymbols: 9 })
    const limits = { rpm: 7, rpd: 250_000, ws_connections: 30, ws_symbols: 9 }
    expect(await usage(key)).toMatchObject({ tier: 'pro', limits })
  })
})

describe('the counters', () => {
  test('each request counts in requests and in the counter of its endpoint, usage itself included', () =>
    withinOneDay(async () => {
      const { key } = await issueKey()
      const history = '/v1/history?symbol=BROKERA:ZERO:BTCUSD&resolution=1&countback=1'
      for (const path of [history, history, '/v1/symbols', '/v1/symbols', '/v1/symbols', '/v1/coverage']) {
        await read(path, key)
      }
      for (const path of ['/v1/status', '/v1/config', '/v1/config', '/v1/usage']) await read(path, key)
      expect((await usage(key)).today).toEqual({
        requests: 11,
        history: 2,
        symbols: 3,
        coverage: 1,
        status: 1,
        config: 2,
        usage: 2,
        ws_connect: 0,
        ws_session: 0,
        rate_limited: 0,
      })
    }))

  test('403, 404 and 422 count like any request', () =>
    withinOneDay(async () => {
      const { key } = await issueKey()
      await ask('/v1/symbols?symbol=BROKERA:PRIME:EURUSD', { key })
      await ask('/v1/coverage?symbol=BROKERA:ZERO:NOPE', { key })
      await ask('/v1/history', { key })
      expect((await usage(key)).today).toMatchObject({
        requests: 4,
        symbols: 1,
        coverage: 1,
        history: 1,
        usage: 1,
      })
    }))

  test('a request refused by a limit counts in rate_limited only, on REST and on an upgrade', () =>
    withinOneDay(async () => {
      const { key, id } = await issueKey({ plan: 'basic', rpm: 1000, rpd: 1, wsConnections: 1 })
      await read('/v1/status', key)
      for (const path of ['/v1/status', '/v1/symbols', '/v1/history']) {
        expect((await ask(path, { key })).status).toBe(429)
      }
      const socket = await connect(key)
      expect((await refusedUpgrade(`/v1/stream?api_key=${key}`)).status).toBe(429)
      await updateKey(id, { rpd: 1000 })
      let refused = 4
      const body = await until('the wider limit', async () => {
        const answer = await ask<Usage>('/v1/usage', { key })
        if (answer.status === 200) return answer.body
        refused++
        return undefined
      })
      const { requests, status, symbols, history, usage: own, ws_connect, rate_limited } = body.today
      expect({ requests, status, symbols, history, own, ws_connect }).toEqual({
        requests: 2,
        status: 1,
        symbols: 0,
        history: 0,
        own: 1,
        ws_connect: 1,
      })
      expect(rate_limited).toBe(refused)
      await socket.close()
    }))

  test('requests without a key or with an unknown key count for no key', () =>
    withinOneDay(async () => {
      const { key } = await issueKey()
      await ask('/v1/status')
      await ask('/v1/status', { key: `fxd_${'f'.repeat(32)}` })
      await ask('/v1/status', { method: 'OPTIONS', key })
      expect((await usage(key)).today.requests).toBe(1)
    }))

  test('ws_connect counts opened connections and ws_session the sessions of the day', () =>
    withinOneDay(async () => {
      const { key } = await issueKey()
      const first = await connect(key)
      const second = await connect(key)
      await first.close()
      const body = await until('one slot freed', async () => {
        const now = await usage(key)
        return now.current.ws_connections_in_use === 1 && now
      })
      expect(body.today).toMatchObject({ ws_connect: 2, ws_session: 2, rate_limited: 0 })
      await second.close()
    }))

  test('a request refused for a reason other than a limit does not count in rate_limited', () =>
    withinOneDay(async () => {
      const { key } = await issueKey({ allowIp: ['203.0.113.7', '127.0.0.5'] })
      expect((await refusedUpgrade(`/v1/stream?api_key=${key}`)).status).toBe(403)
      expect((await ask('/v1/status', { key })).status).toBe(401)
      const body = await ask<Usage>('/v1/usage', { key, from: '127.0.0.5' })
      expect(body.body.today).toMatchObject({ requests: 1, usage: 1, rate_limited: 0 })
    }))

  test('a rotated key continues with the usage of its old secret', () =>
    withinOneDay(async () => {
      const made = await issueKey()
      await read('/v1/status', made.key)
      const { key } = await rotateKey(made.id)
      const body = await until('the new secret', async () => {
        const answer = await ask<Usage>('/v1/usage', { key })
        return answer.status === 200 && answer.body
      })
      expect(body.today).toMatchObject({ requests: 2, status: 1, usage: 1 })
    }))
})

describe('the history', () => {
  test('the history has seven days by default, oldest first, zero-filled, the last is today', () =>
    withinOneDay(async () => {
      const { key } = await issueKey()
      const { history, today } = await usage(key)
      expect(history.map(({ date }) => date)).toEqual([6, 5, 4, 3, 2, 1, 0].map(utcDay))
      const { date, ...last } = history.at(-1) ?? ({} as Counters & { date: string })
      expect(date).toBe(utcDay())
      expect(last).toEqual(today)
      for (const day of history.slice(0, -1)) {
        for (const name of counterNames) expect(day[name]).toBe(0)
      }
    }))

  test('days=N returns exactly N entries', () =>
    withinOneDay(async () => {
      for (const days of [1, 2, 30, 90]) {
        const { history } = await usage(issued.key, days)
        expect(history).toHaveLength(days)
        expect(history[0]?.date).toBe(utcDay(days - 1))
      }
    }))

  test('days above 90 is clamped to 90', async () => {
    expect((await usage(issued.key, 91)).history).toHaveLength(90)
    expect((await usage(issued.key, 100_000)).history).toHaveLength(90)
  })

  test('days below 1 or not an integer is 422', async () => {
    for (const days of ['0', '-1', '7.5', 'week']) {
      const answer = await ask(`/v1/usage?days=${days}`, { key: issued.key })
      expect(answer.status, days).toBe(422)
      expect(answer.body.error.code).toBe('INVALID_PARAMS')
      expect(answer.body.error.message).toContain('days')
    }
  })

  test('every counter is an integer', async () => {
    for (const day of (await usage(issued.key, 90)).history) {
      for (const name of counterNames) expect(Number.isInteger(day[name])).toBe(true)
    }
  })
})
