import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aFeed,
  aKey,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { createUsageReader } from './read-usage.ts'

const dayMs = 86_400_000
const today = Date.UTC(2026, 2, 1, 12)

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture({ start: today - 3 * dayMs })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aKey(0x1234, ['BROKERA:ZERO'], { plan: 'standard' }),
    aKey(2, []),
  )
  await edge.ask('/v1/status', { key: 0x1234 })
  await edge.clock.advance(3 * dayMs)
})
afterAll(() => edge.close())

const zero = {
  requests: 0,
  history: 0,
  symbols: 0,
  coverage: 0,
  status: 0,
  config: 0,
  usage: 0,
  ws_connect: 0,
  ws_session: 0,
  rate_limited: 0,
}

describe('GET /v1/usage', () => {
  test('has the prefix, the plan and the limits, counts itself, and has zeros for days without use', async () => {
    await edge.stores.slots.open('key-4660', 'session', 9)
    const { body, text } = await edge.ask('/v1/usage?days=5', { key: 0x1234 })
    const now = { ...zero, requests: 1, usage: 1, ws_connect: 1, ws_session: 1 }
    expect(text).toBe(
      JSON.stringify({
        api_key: 'fxd_0000',
        tier: 'standard',
        limits: { rpm: 1_000_000, rpd: 1_000_000, ws_connections: 30, ws_symbols: 500 },
        current: { ws_connections_in_use: 1 },
        today: now,
        history: [
          { date: '2026-02-25', ...zero },
          { date: '2026-02-26', ...zero, requests: 1, status: 1 },
          { date: '2026-02-27', ...zero },
          { date: '2026-02-28', ...zero },
          { date: '2026-03-01', ...now },
        ],
      }),
    )
    expect(JSON.stringify(body)).not.toContain(secretOf(0x1234))
  })

  test('for a day of both counters and store, the greater of each counter is shown', async () => {
    await edge.register(aKey(3, []))
    await edge.stores.usageDays.add([
      { keyId: 'key-3', day: '2026-02-27', counters: { ...zero, requests: 9, history: 9 } },
    ])
    const counted = {
      ...edge.stores.limits,
      usage: async () => new Map([['2026-02-27', { ...zero, requests: 4, symbols: 4 }]]),
    }
    const read = createUsageReader({ ...edge.stores, limits: counted, clock: edge.clock })
    const merged = { ...zero, requests: 9, history: 9, symbols: 4 }
    expect([...(await read('key-3', ['2026-02-27', '2026-02-28', '2026-03-01']))]).toEqual([
      ['2026-02-27', merged],
    ])
    const { body } = await edge.ask('/v1/usage?days=3', { key: 3 })
    expect(body.history[0]).toEqual({ date: '2026-02-27', ...zero, requests: 9, history: 9 })
  })

  test('days held in the counters are answered while the store hangs', async () => {
    const { clock, stores } = edge
    const silent = { of: () => new Promise<never>(() => undefined) }
    const limits = { ...stores.limits, daysKept: 2, usage: async () => new Map([['2026-03-01', zero]]) }
    const read = createUsageReader({ limits, usageDays: silent, clock })
    const answer = read('key-2', ['2026-02-28', '2026-03-01'])
    await clock.advance(1_000)
    expect([...(await answer)]).toEqual([['2026-03-01', zero]])
  })

  test.each([
    ['', 7],
    ['?days=1', 1],
    ['?days=90', 90],
    ['?days=91', 90],
    ['?days=9007199254740991', 90],
    ['?days=', 7],
  ])('%s has %i entries, the last one for today', async (query, count) => {
    const { body } = await edge.ask(`/v1/usage${query}`, { key: 2 })
    expect(body.history).toHaveLength(count)
    expect(body.history.at(-1)).toEqual({ date: '2026-03-01', ...body.today })
  })

  test.each(['0', '-1', '1.5', 'x', '1&days=2'])('days=%s is 422 with its name', async (days) => {
    const { status, body } = await edge.ask(`/v1/usage?days=${days}`, { key: 2 })
    expect([status, body.error.code]).toEqual([422, 'INVALID_PARAMS'])
    expect(body.error.message).toMatch(/^days: /)
  })
})
