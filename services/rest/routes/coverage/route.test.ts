import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import { feedSeconds } from '../../../core/clocks/feed-clock.ts'
import { type CompoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'

const day = Date.UTC(2026, 0, 5) / 1000
const hour = 3600
const feed = feedKey('BROKERA', 'ZERO')

let edge: RestFixture
const cover = (symbol: string | undefined, resolution: Resolution, from: number, to: number) =>
  edge.stores.windows.add([
    {
      feed,
      symbol: symbol as CompoundKey | undefined,
      resolution,
      from: feedSeconds(from),
      to: feedSeconds(to),
    },
  ])
const minutes = (from: number, count: number) => Array.from({ length: count }, (_, i) => aBar(from + i * 60))

beforeAll(async () => {
  edge = await openRestFixture({ start: (day + 12 * hour) * 1000 })
  await edge.register(
    aFeed('BROKERA', 'ZERO'),
    aFeed('BROKERB', 'LIVE'),
    aFeed('BROKERC', 'LIVE'),
    aKey(1, ['BROKERA:ZERO', 'BROKERB:LIVE']),
    aSymbol('BROKERA:ZERO:GAPPED'),
    aSymbol('BROKERA:ZERO:EARLY', { since: feedSeconds(day) }),
    aSymbol('BROKERA:ZERO:LATE', { since: feedSeconds(day + hour) }),
    aSymbol('BROKERA:ZERO:NEVER'),
    aSymbol('BROKERA:ZERO:__proto__'),
    aSymbol('BROKERA:ZERO:HIDDEN', { hidden: true }),
    aSymbol('BROKERB:LIVE:EMPTY'),
    aSymbol('BROKERC:LIVE:EURUSD'),
  )
  await edge.store('BROKERA:ZERO:GAPPED', '1', [...minutes(day, 10), ...minutes(day + 2 * hour, 10)])
  await edge.store('BROKERA:ZERO:GAPPED', '60', [aBar(day - 5 * hour), aBar(day)])
  await cover('BROKERA:ZERO:GAPPED', '1', day, day + hour)
  await cover('BROKERA:ZERO:GAPPED', '1', day + 2 * hour, day + 3 * hour)
  await cover('BROKERA:ZERO:GAPPED', '60', day - 5 * hour, day + hour)
  for (const name of ['EARLY', 'LATE', 'NEVER', '__proto__']) {
    await edge.store(`BROKERA:ZERO:${name}`, '1', minutes(day, 180))
  }
  await cover(undefined, '1', day, day + 2 * hour)
})
afterAll(() => edge.close())

const of = async (symbol: string) => {
  const { status, body } = await edge.ask(`/v1/coverage?symbol=${symbol}`, { key: 1 })
  expect([status, Object.keys(body), body.symbol]).toEqual([200, ['symbol', 'coverage'], symbol])
  return body.coverage
}

describe('GET /v1/coverage', () => {
  test('ranges are from the first to the last bar of acknowledged windows, coarser resolutions first', async () => {
    expect(await of('BROKERA:ZERO:GAPPED')).toEqual([
      { from: day - 5 * hour, to: day + 540 },
      { from: day + 2 * hour, to: day + 2 * hour + 540 },
    ])
  })

  test.each([
    ['1', [day, day + 540], [day + 2 * hour, day + 2 * hour + 540]],
    ['30', [day, day + 540], [day + 2 * hour, day + 2 * hour + 540]],
    ['60', [day - 5 * hour, day]],
    ['1D'],
  ])(
    'resolution=%s has the ranges of its own bars alone, with and without a symbol',
    async (resolution, ...ranges) => {
      const symbol = 'BROKERA:ZERO:GAPPED'
      const expected = ranges.map(([from, to]) => ({ from, to }))
      const one = await edge.ask(`/v1/coverage?symbol=${symbol}&resolution=${resolution}`, { key: 1 })
      expect(one.body).toEqual({ symbol, coverage: expected })
      const all = await edge.ask(`/v1/coverage?resolution=${resolution}`, { key: 1 })
      expect(all.body.coverage[symbol]).toEqual(expected)
    },
  )

  test('a window of the whole feed counts for a symbol from the time it was listed', async () => {
    expect(await of('BROKERA:ZERO:EARLY')).toEqual([{ from: day, to: day + 2 * hour - 60 }])
    expect(await of('BROKERA:ZERO:LATE')).toEqual([{ from: day + hour, to: day + 2 * hour - 60 }])
    expect(await of('BROKERA:ZERO:NEVER')).toEqual([])
  })

  test('windows that an earlier release stored with an end before the next bar join', async () => {
    const { symbol } = aSymbol('BROKERB:LIVE:EMPTY')
    await edge.store(symbol, '1', minutes(day, 3))
    const windows = [0, 60, 120].map((at) => {
      const [from, to] = [feedSeconds(day + at), feedSeconds(day + at + 59)]
      return { feed: feedKey('BROKERB', 'LIVE'), symbol, resolution: '1' as const, from, to }
    })
    await edge.stores.windows.add(windows)
    expect(await of(symbol)).toEqual([{ from: day, to: day + 120 }])
    await edge.stores.windows.purge(feedKey('BROKERB', 'LIVE'))
  })

  test('a live bar that the store does not show yet counts', async () => {
    const { symbol } = aSymbol('BROKERA:ZERO:EARLY')
    const last = feedSeconds(day + 3 * hour)
    await cover(symbol, '1', day + 2 * hour, last + 60)
    const bar = { ...aBar(last), revision: 9 }
    await edge.stores.bus.publish({ type: 'bars', feed, bars: [{ symbol, resolution: '1', bar }] }, 1)
    await edge.clock.advance(0)
    expect(await of(symbol)).toEqual([{ from: day, to: last }])
  })

  test('windows of a resolution that the feed no longer serves do not count', async () => {
    await edge.register(
      aFeed('BROKERD', 'HOURS', { resolutions: ['60'] }),
      aKey(2, ['BROKERD:HOURS']),
      aSymbol('BROKERD:HOURS:EURUSD'),
    )
    const [own, symbol] = [feedKey('BROKERD', 'HOURS'), aSymbol('BROKERD:HOURS:EURUSD').symbol]
    const span = { from: feedSeconds(day), to: feedSeconds(day + 2 * hour) }
    await edge.store(symbol, '1', minutes(day, 5))
    await edge.store(symbol, '60', [aBar(day), aBar(day + hour)])
    await edge.stores.windows.add([
      { feed: own, symbol, resolution: '1', ...span },
      { feed: own, symbol, resolution: '60', ...span },
    ])
    const { body } = await edge.ask(`/v1/coverage?symbol=${symbol}`, { key: 2 })
    expect(body.coverage).toEqual([{ from: day, to: day + hour }])
  })

  test('without a symbol it has every visible symbol of the granted feeds, also with empty lists', async () => {
    const { body } = await edge.ask('/v1/coverage', { key: 1 })
    expect(Object.keys(body)).toEqual(['coverage'])
    expect(Object.keys(body.coverage).toSorted()).toEqual([
      'BROKERA:ZERO:EARLY',
      'BROKERA:ZERO:GAPPED',
      'BROKERA:ZERO:LATE',
      'BROKERA:ZERO:NEVER',
      'BROKERA:ZERO:__proto__',
      'BROKERB:LIVE:EMPTY',
    ])
    expect(body.coverage['BROKERB:LIVE:EMPTY']).toEqual([])
    expect(body.coverage['BROKERA:ZERO:GAPPED']).toEqual(await of('BROKERA:ZERO:GAPPED'))
  })

  test.each([
    ['BROKERA:ZERO:NOPE', 404, 'SYMBOL_NOT_FOUND'],
    ['BROKERA:ZERO:HIDDEN', 404, 'SYMBOL_NOT_FOUND'],
    ['BROKERA:ZERO:gapped', 404, 'SYMBOL_NOT_FOUND'],
    ['BROKERA', 404, 'SYMBOL_NOT_FOUND'],
    ['BROKERC:LIVE:EURUSD', 403, 'SYMBOL_NOT_PERMITTED'],
    ['BROKERC:LIVE:NOPE', 403, 'SYMBOL_NOT_PERMITTED'],
  ])('symbol=%s is %i %s', async (symbol, status, code) => {
    const answer = await edge.ask(`/v1/coverage?symbol=${symbol}`, { key: 1 })
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  test.each(['symbol=A&symbol=B', 'resolution=2', 'resolution=1&resolution=5'])(
    '%s is 422',
    async (query) => {
      expect((await edge.ask(`/v1/coverage?${query}`, { key: 1 })).status).toBe(422)
    },
  )
})
