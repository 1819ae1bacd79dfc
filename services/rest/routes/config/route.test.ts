import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aFeed,
  aKey,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../../../test/support/fixtures/rest-fixture.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture()
  await edge.register(
    aFeed('BROKERB', 'LIVE'),
    aFeed('BROKERA', 'ZERO', { brokerName: 'Broker A' }),
    aFeed('BROKERA', 'VIP'),
    aKey(1, ['BROKERA:ZERO']),
    aKey(2, [], { revoked: true }),
    aKey(3, [], { limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 } }),
    aKey(4, [], { allowIps: ['203.0.113.1'] }),
  )
})
afterAll(() => edge.close())

const minuteLeft = 'x-ratelimit-remaining-minute'

describe('GET /v1/config', () => {
  test('answers without a key, in the order of the specification', async () => {
    const { status, body, headers } = await edge.ask('/v1/config')
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual([
      'supported_resolutions',
      'supports_group_request',
      'supports_marks',
      'supports_search',
      'supports_timescale_marks',
      'exchanges',
      'symbols_types',
    ])
    expect(headers).not.toHaveProperty(minuteLeft)
  })

  test('has one exchange per broker with a feed, ordered by value', async () => {
    expect((await edge.ask('/v1/config')).body.exchanges).toEqual([
      { value: 'BROKERA', name: 'Broker A', desc: 'Broker A' },
      { value: 'BROKERB', name: 'BROKERB', desc: 'BROKERB' },
    ])
  })

  test.each([
    ['unknown', { key: 9 }],
    ['revoked', { key: 2 }],
    ['used from a foreign address', { key: 4 }],
    ['malformed', { headers: { 'X-API-Key': 'x' } }],
  ])('a key that is %s counts as none', async (_, asked) => {
    const { status, headers } = await edge.ask('/v1/config', asked)
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty(minuteLeft)
  })

  test('a repeated api_key counts as none', async () => {
    const { status } = await edge.ask(`/v1/config?api_key=${secretOf(1)}&api_key=${secretOf(1)}`)
    expect(status).toBe(200)
  })

  test('a valid key is counted, gets the rate headers and consumes nothing', async () => {
    await edge.ask('/v1/config', { key: 1 })
    const { headers } = await edge.ask('/v1/config', { key: 1 })
    expect(headers[minuteLeft]).toBe('1000000')
    const { body } = await edge.ask('/v1/usage', { key: 1 })
    expect(body.today).toMatchObject({ requests: 3, config: 2, usage: 1 })
  })

  test('it is never refused because of a limit', async () => {
    expect((await edge.ask('/v1/status', { key: 3 })).status).toBe(200)
    expect((await edge.ask('/v1/status', { key: 3 })).status).toBe(429)
    const { status, headers } = await edge.ask('/v1/config', { key: 3 })
    expect([status, headers[minuteLeft]]).toEqual([200, '0'])
  })
})
