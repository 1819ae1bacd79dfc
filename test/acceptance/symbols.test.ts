import { beforeAll, describe, expect, test } from 'vitest'
import { read } from './client/http.ts'
import { everyFeed, issueKey, ungrantedFeed } from './client/keys.ts'
import { type List, names, symbolsOf } from './client/symbols.ts'

let list: ReturnType<typeof symbolsOf>['list']
let single: ReturnType<typeof symbolsOf>['single']
let refusal: ReturnType<typeof symbolsOf>['refusal']
beforeAll(async () => {
  ;({ list, single, refusal } = symbolsOf((await issueKey()).key))
})

describe('the list', () => {
  test('the list carries symbols, total, limit and offset in that order', async () => {
    expect(Object.keys(await list())).toEqual(['symbols', 'total', 'limit', 'offset'])
  })

  test('a list entry carries the eight fields in the order of the specification', async () => {
    for (const entry of (await list()).symbols) {
      expect(Object.keys(entry)).toEqual([
        'symbol',
        'display_symbol',
        'description',
        'exchange',
        'type',
        'digits',
        'price_scale',
        'feed',
      ])
    }
  })

  test('limit defaults to 100 and offset to 0', async () => {
    expect(await list()).toMatchObject({ limit: 100, offset: 0 })
  })

  test('offset and limit page through the list without a gap or a repeat', async () => {
    const all = names(await list({ limit: 1000 }))
    const pages: string[] = []
    for (let offset = 0; offset < all.length; offset += 7) {
      const page = await list({ limit: 7, offset })
      expect(page).toMatchObject({ limit: 7, offset, total: all.length })
      expect(page.symbols.length).toBeLessThanOrEqual(7)
      pages.push(...names(page))
    }
    expect(pages).toEqual(all)
  })

  test('total counts all matching symbols, not those of the page', async () => {
    const found = await list({ search: 'usd', limit: 2 })
    expect(found.symbols).toHaveLength(2)
    expect(found.total).toBeGreaterThan(10)
  })

  test('a limit above 1000 is clamped and the clamped value is shown', async () => {
    expect((await list({ limit: 5000 })).limit).toBe(1000)
    expect((await list({ limit: 1000 })).limit).toBe(1000)
  })

  test('a limit below 1 or an offset below 0 is 422', async () => {
    expect(await refusal({ limit: 0 })).toMatchObject({ status: 422, code: 'INVALID_PARAMS' })
    expect(await refusal({ offset: -1 })).toMatchObject({ status: 422, code: 'INVALID_PARAMS' })
  })

  test('the list is ordered by compound key', async () => {
    const all = names(await list({ limit: 1000 }))
    expect(all).toEqual([...all].sort((a, b) => (a < b ? -1 : 1)))
  })

  test('only symbols of granted feeds are listed', async () => {
    const feeds = new Set((await list({ limit: 1000 })).symbols.map(({ feed }) => feed))
    expect([...feeds].sort()).toEqual([...everyFeed].sort())
    const narrow = await issueKey({ feeds: ['BROKERB:LIVE'] })
    const found = await read<List>('/v1/symbols?limit=1000', narrow.key)
    expect(found.symbols.length).toBe(found.total)
    expect(new Set(found.symbols.map(({ feed }) => feed))).toEqual(new Set(['BROKERB:LIVE']))
  })
})

describe('search', () => {
  test('search finds every symbol whose display name contains the fragment', async () => {
    const found = await list({ search: 'EURU' })
    const keys = ['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:EURUSD', 'BROKERD:LIVE:EURUSD', 'BROKERE:LIVE:EURUSD']
    expect(names(found)).toEqual([...keys, 'BROKERF:LIVE:EURUSD'])
    expect(found.total).toBe(5)
  })

  test('search ignores letter case', async () => {
    const found = names(await list({ search: 'eUrUsD' }))
    expect(found).toContain('BROKERA:ZERO:EURUSD')
    expect(found).toEqual(names(await list({ search: 'EURUSD' })))
  })

  test('search matches the display name only', async () => {
    expect(names(await list({ search: 'gold' }))).toEqual(['BROKERA:ZERO:XAUUSD'])
    const shown = names(await list({ search: 'XAU' }))
    expect(shown).not.toContain('BROKERA:ZERO:XAUUSD')
    expect(shown).toContain('BROKERC:TADIL:XAUUSD')
    expect((await list({ search: 'BROKERA' })).total).toBe(0)
  })

  test('search treats the fragment as plain text', async () => {
    expect((await list({ search: '.*' })).total).toBe(0)
    expect((await list({ search: '%' })).total).toBe(0)
    expect(names(await list({ search: '_cfd.fr' }))).toEqual(['BROKERB:LIVE:AIR_CFD.FR'])
  })

  test('an empty search does not filter', async () => {
    expect((await list({ search: '' })).total).toBe((await list()).total)
  })

  test('a search of 64 characters is accepted and one of 65 is 422', async () => {
    expect((await list({ search: 'x'.repeat(64) })).total).toBe(0)
    expect(await refusal({ search: 'x'.repeat(65) })).toMatchObject({ status: 422, code: 'INVALID_PARAMS' })
  })
})

describe('one symbol', () => {
  test('one symbol carries all fields in the order of the specification', async () => {
    expect(Object.keys(await single('BROKERA:ZERO:EURUSD'))).toEqual([
      'symbol',
      'full_name',
      'display_symbol',
      'description',
      'exchange',
      'type',
      'digits',
      'price_scale',
      'feed',
      'supported_resolutions',
      'has_intraday',
      'has_daily',
      'has_weekly_and_monthly',
      'session',
      'timezone',
      'data_status',
      'delay_seconds',
    ])
  })

  test('every field of a forex pair follows from its manifest', async () => {
    expect(await single('BROKERA:ZERO:EURUSD')).toEqual({
      symbol: 'BROKERA:ZERO:EURUSD',
      full_name: 'BROKERA:ZERO:EURUSD',
      display_symbol: 'EURUSD',
      description: 'Euro vs US Dollar (BrokerA Zero)',
      exchange: 'BROKERA',
      type: 'forex',
      digits: 5,
      price_scale: 100_000,
      feed: 'BROKERA:ZERO',
      supported_resolutions: ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'],
      has_intraday: true,
      has_daily: true,
      has_weekly_and_monthly: true,
      session: '24x5',
      timezone: 'Etc/UTC',
      data_status: 'streaming',
      delay_seconds: 0,
    })
  })

  test('a list entry has the same values as the single symbol', async () => {
    const alone = await single('BROKERA:ZERO:US500')
    const [entry] = (await list({ search: 'US500' })).symbols
    expect(alone).toMatchObject(entry ?? {})
    expect(entry?.symbol).toBe('BROKERA:ZERO:US500')
  })

  test('price_scale is ten to the power of digits', async () => {
    for (const { digits, price_scale } of (await list({ limit: 1000 })).symbols) {
      expect(price_scale).toBe(10 ** digits)
    }
  })

  test('every type is forex, crypto, index or cfd, commodities and shares being cfd', async () => {
    const types = new Set((await list({ limit: 1000 })).symbols.map(({ type }) => type))
    expect([...types].sort()).toEqual(['cfd', 'crypto', 'forex', 'index'])
    expect((await single('BROKERA:ZERO:XAUUSD')).type).toBe('cfd')
    expect((await single('BROKERB:LIVE:GOOGL_CFD.US')).type).toBe('cfd')
  })

  test('the display name defaults to the clean name; the manifest may set another', async () => {
    expect((await single('BROKERA:ZERO:BTCUSD')).display_symbol).toBe('BTCUSD')
    expect((await single('BROKERA:ZERO:XAUUSD')).display_symbol).toBe('Gold')
  })

  test("the description is the symbol's description followed by that of its feed", async () => {
    expect((await single('BROKERB:LIVE:UK100')).description).toBe('UK large companies (BrokerB Live)')
  })

  test('a session is 24x7 for crypto and 24x5 for the rest unless the catalogue says otherwise', async () => {
    expect((await single('BROKERA:ZERO:BTCUSD')).session).toBe('24x7')
    expect((await single('BROKERA:ZERO:US500')).session).toBe('24x5')
    expect((await single('BROKERG:SIM:BTCUSD')).session).toBe('24x7')
  })

  test('a symbol of the exchange-terminal feed supports its five resolutions and no minutes', async () => {
    expect(await single('BROKERC:TADIL:BTCUSD')).toMatchObject({
      supported_resolutions: ['60', '240', '1D', '1W', '1M'],
      has_intraday: true,
      has_daily: true,
      has_weekly_and_monthly: true,
    })
  })

  test('has_daily and has_weekly_and_monthly follow from the resolutions', async () => {
    expect(await single('BROKERG:SIM:BTCUSD')).toMatchObject({
      supported_resolutions: ['1', '5', '60', '1D'],
      has_intraday: true,
      has_daily: true,
      has_weekly_and_monthly: false,
    })
  })

  test('data_status is streaming for a feed that serves minutes from a live source, else endofday', async () => {
    expect((await single('BROKERG:SIM:BTCUSD')).data_status).toBe('streaming')
    expect((await single('BROKERC:TADIL:BTCUSD')).data_status).toBe('endofday')
  })

  test('the timezone of every feed is Etc/UTC, whatever its clock', async () => {
    for (const symbol of ['BROKERA:ZERO:EURUSD', 'BROKERB:LIVE:EURUSD', 'BROKERC:TADIL:XAUUSD']) {
      expect((await single(symbol)).timezone).toBe('Etc/UTC')
    }
  })

  test('delay_seconds is the delay of the quotes, 0 for real-time quotes', async () => {
    expect((await single('BROKERB:LIVE:AAPL_CFD.US')).delay_seconds).toBe(900)
    expect((await single('BROKERB:LIVE:GOOGL_CFD.US')).delay_seconds).toBe(0)
  })

  test('a symbol that does not exist is 404', async () => {
    const answer = await refusal({ symbol: 'BROKERA:ZERO:NOPE' })
    expect(answer).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
  })

  test('a symbol of a feed that does not exist is 404', async () => {
    expect(await refusal({ symbol: 'BROKERX:LIVE:EURUSD' })).toMatchObject({ status: 404 })
  })

  test('a symbol of a feed that is not granted is 403 naming the feed', async () => {
    const answer = await refusal({ symbol: `${ungrantedFeed}:EURUSD` })
    expect(answer).toMatchObject({ status: 403, code: 'SYMBOL_NOT_PERMITTED' })
    expect(answer.message).toContain(ungrantedFeed)
  })

  test('an empty symbol counts as absent: the list is returned', async () => {
    expect((await list({ symbol: '' })).total).toBe((await list()).total)
  })
})
