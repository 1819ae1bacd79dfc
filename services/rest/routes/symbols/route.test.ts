import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
} from '../../../../test/support/fixtures/rest-fixture.ts'

let edge: RestFixture
beforeAll(async () => {
  edge = await openRestFixture()
  await edge.register(
    aFeed('BROKERA', 'ZERO', { description: 'BrokerA Zero' }),
    aFeed('BROKERA', 'ZERO2'),
    aFeed('BROKERB', 'LIVE', { resolutions: ['60', '1D'] }),
    aFeed('BROKERC', 'LIVE'),
    aKey(1, ['BROKERA:ZERO', 'BROKERA:ZERO2', 'BROKERB:LIVE', 'BROKERX:GONE']),
    aSymbol('BROKERA:ZERO:EURUSD', { description: 'Euro vs US Dollar' }),
    aSymbol('BROKERA:ZERO:XAUUSD', { display: 'Gold', type: 'cfd', digits: 2 }),
    aSymbol('BROKERA:ZERO:HIDDEN', { hidden: true }),
    aSymbol('BROKERA:ZERO2:EURUSD'),
    aSymbol('BROKERB:LIVE:BRKb_CFD.US', { delaySeconds: 900, session: '24x7' }),
    aSymbol('BROKERB:LIVE:__proto__'),
    aKey(9, ['BROKERC:LIVE']),
    aSymbol('BROKERC:LIVE:EURUSD'),
    aSymbol('BROKERC:LIVE:OTE', { display: 'ΟΤΕΣΑ' }),
    aSymbol('BROKERC:LIVE:GROUP', { display: 'STRASSE KIS' }),
    aSymbol('BROKERC:LIVE:WEG', { display: 'Weg ı ß É' }),
  )
})
afterAll(() => edge.close())

const ask = (query: string) => edge.ask(`/v1/symbols?${query}`, { key: 1 })
const names = async (query: string): Promise<string[]> =>
  (await ask(query)).body.symbols.map(({ symbol }) => symbol)

describe('GET /v1/symbols', () => {
  test('lists the visible symbols of granted feeds, ordered by compound key', async () => {
    const { body } = await ask('')
    expect(Object.keys(body)).toEqual(['symbols', 'total', 'limit', 'offset'])
    expect(body).toMatchObject({ total: 5, limit: 100, offset: 0 })
    expect(await names('')).toEqual([
      'BROKERA:ZERO2:EURUSD',
      'BROKERA:ZERO:EURUSD',
      'BROKERA:ZERO:XAUUSD',
      'BROKERB:LIVE:BRKb_CFD.US',
      'BROKERB:LIVE:__proto__',
    ])
  })

  test('an entry has its eight fields in order', async () => {
    expect(JSON.stringify((await ask('search=gold')).body.symbols[0])).toBe(
      '{"symbol":"BROKERA:ZERO:XAUUSD","display_symbol":"Gold","description":"Gold (BrokerA Zero)",' +
        '"exchange":"BROKERA","type":"cfd","digits":2,"price_scale":100,"feed":"BROKERA:ZERO"}',
    )
  })

  test.each([
    ['search=eur', ['BROKERA:ZERO2:EURUSD', 'BROKERA:ZERO:EURUSD']],
    ['search=GOLD', ['BROKERA:ZERO:XAUUSD']],
    ['search=XAU', []],
    ['search=.', ['BROKERB:LIVE:BRKb_CFD.US']],
    ['search=%25', []],
    ['search=&limit=1', ['BROKERA:ZERO2:EURUSD']],
    ['limit=2&offset=3', ['BROKERB:LIVE:BRKb_CFD.US', 'BROKERB:LIVE:__proto__']],
    ['offset=5', []],
    ['offset=9007199254740991', []],
    ['symbol=&limit=1', ['BROKERA:ZERO2:EURUSD']],
  ])('%s finds %j', async (query, expected) => expect(await names(query)).toEqual(expected))

  test.each(['ΟΤΕΣ', 'οτεσ', 'οτες', 'σα'])(
    'the fragment %s finds ΟΤΕΣΑ, although a sigma at the end has a lower case of its own',
    async (search) => {
      const { body } = await edge.ask(`/v1/symbols?search=${encodeURIComponent(search)}`, { key: 9 })
      expect(body.symbols.map(({ symbol }) => symbol)).toEqual(['BROKERC:LIVE:OTE'])
    },
  )

  test.each([
    ['ss', ['GROUP']],
    ['ß', ['WEG']],
    ['i', ['GROUP']],
    ['ı', ['WEG']],
    ['é', ['WEG']],
  ])('letters that only an upper case makes equal are different: %s finds %j', async (search, expected) => {
    const { body } = await edge.ask(`/v1/symbols?search=${encodeURIComponent(search)}`, { key: 9 })
    expect(body.symbols.map(({ symbol }) => symbol.split(':')[2])).toEqual(expected)
  })

  test('total is the number of matching symbols, not of those on the page', async () => {
    expect((await ask('search=eur&limit=1&offset=1')).body).toMatchObject({ total: 2, limit: 1, offset: 1 })
  })

  test('a limit above 1000 is clamped and the clamped value is shown', async () => {
    expect((await ask('limit=1001')).body.limit).toBe(1000)
    expect((await ask('limit=9007199254740991')).body.limit).toBe(1000)
  })

  test.each(['limit=0', 'limit=-1', 'limit=1.5', 'limit=1e3', 'limit=x', 'offset=-1', 'limit=1&limit=2'])(
    '%s is 422',
    async (query) => {
      const { status, body } = await ask(query)
      expect([status, body.error.code]).toEqual([422, 'INVALID_PARAMS'])
      expect(body.error.message).toContain(query.slice(0, query.indexOf('=')))
    },
  )

  test('a search of 64 characters is answered, one of 65 is refused', async () => {
    expect((await ask(`search=${'x'.repeat(64)}`)).status).toBe(200)
    expect((await ask(`search=${'x'.repeat(65)}`)).status).toBe(422)
  })

  test('one symbol has all its fields in order', async () => {
    expect((await ask('symbol=BROKERB:LIVE:BRKb_CFD.US')).text).toBe(
      '{"symbol":"BROKERB:LIVE:BRKb_CFD.US","full_name":"BROKERB:LIVE:BRKb_CFD.US",' +
        '"display_symbol":"BRKb_CFD.US","description":"BRKb_CFD.US (BROKERB LIVE)","exchange":"BROKERB",' +
        '"type":"forex","digits":5,"price_scale":100000,"feed":"BROKERB:LIVE",' +
        '"supported_resolutions":["60","1D"],"has_intraday":true,"has_daily":true,' +
        '"has_weekly_and_monthly":false,"session":"24x7","timezone":"Etc/UTC","data_status":"endofday",' +
        '"delay_seconds":900}',
    )
  })

  test('a symbol may have the name __proto__', async () => {
    expect((await ask('symbol=BROKERB:LIVE:__proto__')).body.symbol).toBe('BROKERB:LIVE:__proto__')
  })

  test.each([
    ['BROKERA:ZERO:NOPE', 404],
    ['BROKERA:ZERO:HIDDEN', 404],
    ['BROKERA:ZERO:eurusd', 404],
    ['BROKERX:GONE:EURUSD', 404],
    ['BROKERX:NONE:EURUSD', 404],
    ['EURUSD', 404],
    ['BROKERA:ZERO', 404],
    ['::', 404],
    ['__proto__', 404],
    ['BROKERC:LIVE:EURUSD', 403],
    ['BROKERC:LIVE:NOPE', 403],
  ])('symbol=%s is %i', async (symbol, expected) => {
    const { status, body } = await ask(`symbol=${symbol}`)
    expect(status).toBe(expected)
    expect(body.error.code).toBe(expected === 403 ? 'SYMBOL_NOT_PERMITTED' : 'SYMBOL_NOT_FOUND')
    if (expected === 403) expect(body.error.message).toContain('BROKERC:LIVE')
  })

  test('symbols of a feed that is not registered are not listed', async () => {
    await edge.register(aSymbol('BROKERD:LIVE:EURUSD'), aKey(2, ['BROKERD:LIVE']))
    expect((await edge.ask('/v1/symbols', { key: 2 })).body.symbols).toEqual([])
  })
})
