import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  aBar,
  aFeed,
  aKey,
  aSymbol,
  openRestFixture,
  type RestFixture,
  secretOf,
} from '../../../../test/support/fixtures/rest-fixture.ts'
import type { Bar } from '../../../core/bars/bar.ts'
import { utcMs } from '../../../core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'
import { digestOf } from '../../../registry/key-digest.ts'

const hour = 3_600
const day = 86_400
/** A Monday. */
const monday = Date.UTC(2026, 0, 5) / 1_000
const noon = monday + 12 * hour
const behind = 4_018 * day
/** Minutes from 00:00 to 11:59 UTC; the highs and volumes tell them apart. */
const minutes = (offset: number): Bar[] =>
  Array.from({ length: 720 }, (_, i) => ({ ...aBar(monday + i * 60 - offset, 1 + i / 10_000, i), low: 0.5 }))

let edge: RestFixture
let token = ''
beforeAll(async () => {
  edge = await openRestFixture({ start: noon * 1_000 })
  await edge.register(
    aFeed('BROKERA', 'ZERO', { clock: { mode: 'Fixed', offsetSeconds: -3 * hour } }),
    aFeed('BROKERB', 'LIVE'),
    aFeed('BROKERC', 'TADIL', {
      clock: { mode: 'Fixed', offsetSeconds: behind },
      resolutions: ['60', '240', '1D', '1W', '1M'],
      source: { type: 'Mt5Csv', path: '/x', follow: false },
    }),
    aFeed('BROKERF', 'LIVE', { clock: { mode: 'Measured' } }),
    aFeed('BROKERG', 'LIVE'),
    aKey(1, ['BROKERA:ZERO', 'BROKERB:LIVE', 'BROKERC:TADIL', 'BROKERF:LIVE']),
    aKey(2, ['BROKERA:ZERO'], { allowIps: ['198.51.100.0/24'] }),
    aSymbol('BROKERA:ZERO:EURUSD'),
    aSymbol('BROKERA:ZERO:SLOW', { delaySeconds: 900, type: 'cfd', digits: 2 }),
    aSymbol('BROKERB:LIVE:EURUSD'),
    aSymbol('BROKERB:LIVE:GBPEUR'),
    aSymbol('BROKERB:LIVE:BTCUSD', { type: 'crypto', session: '24x7', description: 'Bitcoin in euro' }),
    aSymbol('BROKERB:LIVE:BFA_CFD.US', { type: 'cfd' }),
    aSymbol('BROKERB:LIVE:BFa_CFD.US', { type: 'cfd' }),
    aSymbol('BROKERC:TADIL:EURUSD'),
    aSymbol('BROKERF:LIVE:EURUSD'),
    aSymbol('BROKERG:LIVE:EURUSD'),
  )
  await edge.store('BROKERA:ZERO:EURUSD', '1', minutes(-3 * hour))
  await edge.store('BROKERB:LIVE:EURUSD', '1', minutes(0))
  for (const [symbol, offset] of [
    ['BROKERA:ZERO:EURUSD', -3 * hour],
    ['BROKERB:LIVE:EURUSD', 0],
  ] as const) {
    const hours = Array.from({ length: 12 }, (_, i) => aBar(monday + i * hour - offset))
    await edge.store(symbol, '60', hours)
    await edge.store(symbol, '1D', [aBar(monday - 3 * day), aBar(monday - 4 * day)])
  }
  await edge.store('BROKERC:TADIL:EURUSD', '60', [aBar(monday - behind), aBar(monday - behind + hour)])
  await edge.store('BROKERC:TADIL:EURUSD', '1D', [aBar(monday - behind)])
  await edge.store('BROKERC:TADIL:EURUSD', '1M', [
    aBar(Date.UTC(2014, 11, 1) / 1_000),
    aBar(Date.UTC(2015, 0, 1) / 1_000),
  ])
  token = (await edge.ask('/udf/token', { key: 1 })).body.token
})
afterAll(() => edge.close())

/** Asks as a charting client does: without a header, and whatever the status. */
const udf = async (rest: string, of = token) => {
  const answer = await edge.ask(`/udf/${of}/${rest}`)
  expect(answer.status).toBe(200)
  return answer
}
const times = async (query: string): Promise<readonly number[] | string> => {
  const { body } = await udf(`history?${query}`)
  return body.s === 'ok' ? body.t : body.s
}
const error = async (rest: string, of = token): Promise<string> => {
  const { body } = await udf(rest, of)
  return body.s === 'error' ? body.errmsg : `no error: ${body.s}`
}

describe('/udf/token', () => {
  test('issues a token for a day, for the key in a header', async () => {
    const { status, body, headers } = await edge.ask('/udf/token', { key: 1 })
    expect(status).toBe(200)
    expect(body).toEqual({
      token: expect.stringMatching(/^fxc_/) as unknown,
      path: `/udf/${body.token}`,
      expires: noon + day,
    })
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['cache-control']).toBe('no-store')
  })

  test('ends at the end of the key, if that is earlier', async () => {
    await edge.register(aKey(9, ['BROKERA:ZERO'], { expiresAt: utcMs((noon + 60) * 1_000) }))
    expect((await edge.ask('/udf/token?for=90d', { key: 9 })).body.expires).toBe(noon + 60)
  })

  test.each([
    ['without a key', '', {}, 401, 'No API key was provided.'],
    ['with the key in the address', `?api_key=${secretOf(1)}`, {}, 401, 'was not in a header'],
    ['for more than 90 days', '?for=91d', { key: 1 }, 422, 'for: got "91d", wanted a time up to 90d'],
    ['for no time', '?for=0s', { key: 1 }, 422, 'for: got "0s"'],
    ['for an empty list of feeds', '?feeds=', { key: 1 }, 422, 'feeds: got "", wanted BROKER:ACCOUNT'],
    ['for a feed of others', '?feeds=BROKERG:LIVE', { key: 1 }, 403, 'no access to the feed BROKERG:LIVE'],
  ])('is refused %s', async (_, query, request, status, message) => {
    const answer = await edge.ask(`/udf/token${query}`, request)
    expect([answer.status, answer.body.error.message]).toEqual([status, expect.stringContaining(message)])
  })

  test('is refused on a server without chart keys', async () => {
    const other = await openRestFixture({ chartKeys: [] })
    await other.register(aKey(1, []))
    const { status, body } = await other.ask('/udf/token', { key: 1 })
    expect([status, body.error.message]).toEqual([404, expect.stringContaining('FXD_CHART_KEYS')])
    await other.close()
  })
})

describe('failures are answered with 200, s and a text', () => {
  test.each([
    ['an unknown token', 'config', `fxc_${'a'.repeat(40)}.${'b'.repeat(43)}`, 'The chart token is unknown.'],
    ['an API key in place of a token', 'config', secretOf(1), 'The chart token is unknown.'],
    [
      'a very long token',
      'config',
      `fxc_${'a'.repeat(4_000)}.${'b'.repeat(43)}`,
      'The chart token is unknown.',
    ],
  ])('%s', async (_, rest, of, message) => {
    expect(await error(rest, of)).toBe(message)
  })

  test.each([
    ['an unknown symbol', 'symbols?symbol=BROKERA_ZERO:NONE', 'The symbol does not exist.'],
    ['a symbol without a feed', 'symbols?symbol=EURUSD', 'The symbol does not exist.'],
    [
      'a symbol of a feed of others',
      'symbols?symbol=BROKERG_LIVE:EURUSD',
      'no access to the feed BROKERG:LIVE',
    ],
    ['no symbol', 'symbols', 'symbol: got nothing'],
    [
      'a wrong resolution',
      `history?symbol=BROKERA_ZERO:EURUSD&resolution=7&to=${noon}&countback=2`,
      'resolution: got "7"',
    ],
    ['a wrong time', 'history?symbol=BROKERA_ZERO:EURUSD&resolution=1&to=now&countback=2', 'to: got "now"'],
    [
      'neither from nor countback',
      `history?symbol=BROKERA_ZERO:EURUSD&resolution=1&to=${noon}`,
      'wanted countback or from',
    ],
    [
      'a clock that is not measured',
      `history?symbol=BROKERF_LIVE:EURUSD&resolution=1&to=${noon}&countback=2`,
      'The clock of the feed BROKERF:LIVE is not measured yet',
    ],
    ['an unknown endpoint', 'quotes', 'There is no such path.'],
  ])('%s', async (_, rest, message) => {
    expect(await error(rest)).toContain(message)
  })

  test.each(['', '/', '/quotes', '//quotes/', '/a/b', '/%61'])(
    'a path of charts that there is not: %s',
    async (rest) => {
      for (const of of [token, 'fxc_unknown.token']) {
        const { status, body } = await edge.ask(`/udf/${of}${rest}`)
        expect([status, body.s, body.errmsg]).toEqual([200, 'error', 'There is no such path.'])
      }
    },
  )

  test('another address than those of the key', async () => {
    const key = aKey(3, ['BROKERA:ZERO'])
    await edge.register(key)
    const { body } = await edge.ask('/udf/token', { key: 3 })
    expect((await udf('config', body.token)).body.s).toBeUndefined()
    await edge.register({ ...key, allowIps: ['198.51.100.0/24'] })
    expect(await error('config', body.token)).toBe("The client address is not on the key's allowlist.")
  })

  test('a revoked key, a rotated secret after its overlap, and the end of a token', async () => {
    const key = aKey(4, ['BROKERA:ZERO'])
    await edge.register(key)
    const of = (await edge.ask('/udf/token?for=1h', { key: 4 })).body.token
    const rotated = { digest: digestOf(secretOf(40)).toString('hex') }
    await edge.register({
      ...key,
      secrets: [rotated, { ...key.secrets[0]!, until: utcMs(noon * 1_000 + 1) }],
    })
    expect((await udf('config', of)).body.s).toBeUndefined()
    await edge.register({ ...key, secrets: [rotated, { ...key.secrets[0]!, until: utcMs(noon * 1_000) }] })
    expect(await error('config', of)).toContain('The chart token has ended')
    await edge.register({ ...key, revoked: true })
    expect(await error('config', of)).toBe('The API key has been revoked.')
    await edge.register(key)
    expect((await udf('config', of)).body.s).toBeUndefined()
  })
})

describe('/udf/<token>/config and /time', () => {
  test('the config names what the key may see, and the filters for all', async () => {
    const { body, headers } = await udf('config')
    expect(body).toMatchObject({
      supports_search: true,
      supports_group_request: false,
      supports_marks: false,
      supports_timescale_marks: false,
      supports_time: true,
      supported_resolutions: expect.arrayContaining(['1', '1D', '1M']) as unknown,
      symbols_types: ['', 'forex', 'crypto', 'index', 'cfd'].map(
        (value) => expect.objectContaining({ value }) as unknown,
      ),
    })
    expect(body.exchanges.map((each) => (each as { value: string }).value)).toEqual([
      '',
      'BROKERA',
      'BROKERB',
      'BROKERC',
      'BROKERF',
    ])
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  test.each(['//config', '/config/', '//config//'])('a base address may end in a slash: %s', async (rest) => {
    const { status, body } = await edge.ask(`/udf/${token}${rest}`)
    expect([status, body]).toMatchObject([200, { supports_search: true, supports_time: true }])
    const refused = await edge.ask(`/udf/fxc_unknown.token${rest}`)
    expect([refused.status, refused.body]).toMatchObject([200, { s: 'error', supports_search: true }])
  })

  test('a refused config has what a client needs to start, so that it shows the failures that follow', async () => {
    const { body } = await udf('config', 'fxc_unknown.token')
    expect(body).toMatchObject({
      s: 'error',
      errmsg: 'The chart token is unknown.',
      supports_search: true,
      supports_group_request: false,
      supported_resolutions: expect.arrayContaining(['1', '1D', '1M']) as unknown,
    })
  })

  test('the time is a bare number of seconds', async () => {
    expect((await udf('time')).text).toBe(String(noon))
  })

  test('a preflight of a browser is accepted', async () => {
    expect((await edge.ask(`/udf/${token}/config`, { method: 'OPTIONS' })).status).toBe(204)
  })
})

describe('/udf/<token>/symbols and /search', () => {
  test('a symbol has the fields of the library, under its ticker in any case and under its compound key', async () => {
    const wanted = {
      name: 'EURUSD',
      full_name: 'BROKERA_ZERO:EURUSD',
      ticker: 'BROKERA_ZERO:EURUSD',
      description: 'EURUSD (BROKERA ZERO)',
      type: 'forex',
      exchange: 'BROKERA',
      listed_exchange: 'BROKERA',
      session: '2200-2200:123456',
      timezone: 'Etc/UTC',
      minmov: 1,
      pricescale: 100_000,
      format: 'price',
      volume_precision: 0,
      supported_resolutions: ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'],
      has_intraday: true,
      intraday_multipliers: ['1', '5', '10', '15', '30', '60', '120', '240'],
      has_daily: true,
      has_weekly_and_monthly: true,
      data_status: 'streaming',
      delay: 0,
    }
    for (const symbol of ['BROKERA_ZERO:EURUSD', 'brokera_zero:eurusd', 'BROKERA:ZERO:EURUSD'])
      expect((await udf(`symbols?symbol=${symbol}`)).body).toEqual(wanted)
  })

  test.each([
    ['BROKERA_ZERO:SLOW', { data_status: 'delayed_streaming', delay: 900, pricescale: 100 }],
    ['BROKERC_TADIL:EURUSD', { data_status: 'endofday', delay: -1, intraday_multipliers: ['60', '240'] }],
    ['BROKERB_LIVE:BTCUSD', { session: '24x7' }],
    ['BROKERB_LIVE:BFA_CFD.US', { name: 'BFA_CFD.US' }],
    ['BROKERB_LIVE:BFA_CFD.US~4', { name: 'BFa_CFD.US' }],
  ])('%s is %o', async (symbol, fields) => {
    expect((await udf(`symbols?symbol=${symbol}`)).body).toMatchObject(fields)
  })

  test.each([
    [
      'query=EUR&limit=30',
      [
        'BROKERA_ZERO:EURUSD',
        'BROKERB_LIVE:EURUSD',
        'BROKERC_TADIL:EURUSD',
        'BROKERF_LIVE:EURUSD',
        'BROKERB_LIVE:GBPEUR',
        'BROKERB_LIVE:BTCUSD',
      ],
    ],
    ['query=EUR&limit=1', ['BROKERA_ZERO:EURUSD']],
    ['query=BFA', ['BROKERB_LIVE:BFA_CFD.US', 'BROKERB_LIVE:BFA_CFD.US~4']],
    ['query=&type=crypto&exchange=', ['BROKERB_LIVE:BTCUSD']],
    ['query=EURUSD&type=&exchange=BROKERB', ['BROKERB_LIVE:EURUSD']],
    ['query=BROKERB_LIVE:GBP', ['BROKERB_LIVE:GBPEUR']],
    ['query=(', []],
  ])('a search for %s finds %o, as a bare array', async (query, tickers) => {
    const found = JSON.parse((await udf(`search?${query}`)).text) as Record<string, string>[]
    expect(found.map(({ ticker }) => ticker)).toEqual(tickers)
    for (const each of found)
      expect(Object.keys(each)).toEqual(['symbol', 'full_name', 'ticker', 'description', 'exchange', 'type'])
  })

  test('every found ticker resolves to itself, in upper case too', async () => {
    const found = JSON.parse((await udf('search?query=&limit=1000')).text) as Record<string, string>[]
    expect(found).toHaveLength(9)
    for (const { ticker = '' } of found)
      expect((await udf(`symbols?symbol=${ticker.toUpperCase()}`)).body).toMatchObject({ ticker })
  })
})

describe('/udf/<token>/history', () => {
  const eurusd = (feed: string, resolution: string) => `symbol=${feed}:EURUSD&resolution=${resolution}`

  test.each(['BROKERA_ZERO', 'BROKERB_LIVE'])(
    'the newest minutes of %s have their true times',
    async (feed) => {
      expect(await times(`${eurusd(feed, '1')}&from=${noon - 600}&to=${noon}&countback=2`)).toEqual([
        noon - 120,
        noon - 60,
      ])
    },
  )

  test('an answer has the columns of the library and nothing else', async () => {
    expect((await udf(`history?${eurusd('BROKERB_LIVE', '1')}&to=${monday + 60}&countback=5`)).text).toBe(
      `{"s":"ok","t":[${monday}],"o":[1],"h":[1],"l":[0.5],"c":[1],"v":[0]}`,
    )
  })

  test.each([
    ['to is exclusive', `from=0&to=${monday + 180}&countback=2`, [monday + 60, monday + 120]],
    [
      'countback outranks from',
      `from=${monday + 120}&to=${monday + 180}&countback=3`,
      [monday, monday + 60, monday + 120],
    ],
    [
      'without countback, from is inclusive',
      `from=${monday + 60}&to=${monday + 180}`,
      [monday + 60, monday + 120],
    ],
    [
      'a countback of 0 counts as absent',
      `from=${monday + 60}&to=${monday + 180}&countback=0`,
      [monday + 60, monday + 120],
    ],
    ['nothing earlier is no_data', `from=0&to=${monday}&countback=300`, 'no_data'],
  ])('%s', async (_, query, wanted) => {
    expect(await times(`${eurusd('BROKERA_ZERO', '1')}&${query}`)).toEqual(wanted)
  })

  test('without countback, the store is asked for as many bars as the window can have, or for none that are kept', async () => {
    const read = vi.spyOn(edge.stores.bars, 'read')
    const ask = (from: number, to: number) => times(`${eurusd('BROKERB_LIVE', '1')}&from=${from}&to=${to}`)
    await ask(noon - 600, noon)
    read.mockClear()
    expect(await ask(noon - 600, noon)).toHaveLength(10)
    expect(await ask(noon - 600, noon + day)).toHaveLength(10)
    expect(read).not.toHaveBeenCalled()
    expect(await ask(monday + 60, monday + 60 + 100 * 60)).toHaveLength(100)
    expect(await ask(0, noon)).toHaveLength(720)
    expect(read.mock.calls.map(([{ take }]) => take?.count)).toEqual([102, 10_000])
    read.mockRestore()
  })

  test('a window in a gap names the newest bar before it', async () => {
    const { body } = await udf(
      `history?${eurusd('BROKERA_ZERO', '1')}&from=${noon + day}&to=${noon + 2 * day}`,
    )
    expect(body).toEqual({ s: 'no_data', nextTime: noon - 60 })
  })

  test('a countback above 10,000 is answered as 10,000', async () => {
    const bars = Array.from({ length: 10_010 }, (_, i) => aBar(monday - (i + 1) * 60))
    await edge.store('BROKERB:LIVE:GBPEUR', '1', bars)
    const all = await times(`symbol=BROKERB_LIVE:GBPEUR&resolution=1&from=0&to=${noon}&countback=20000`)
    expect(all).toHaveLength(10_000)
  })

  test.each([
    ['1D', 'D'],
    ['d', 'D'],
  ])('days keep their date on a clock that is hours away: %s', async (resolution) => {
    for (const feed of ['BROKERA_ZERO', 'BROKERB_LIVE'])
      expect(await times(`${eurusd(feed, resolution)}&from=0&to=${noon}&countback=3`)).toEqual([
        monday - 4 * day,
        monday - 3 * day,
        monday,
      ])
  })

  test('a clock 4018 days behind has hours, days and months of today', async () => {
    const of = (resolution: string) =>
      times(`${eurusd('BROKERC_TADIL', resolution)}&from=0&to=${noon}&countback=9`)
    expect(await of('60')).toEqual([monday, monday + hour])
    expect(await of('1D')).toEqual([monday])
    expect(await of('1M')).toEqual([Date.UTC(2025, 11, 1) / 1_000, Date.UTC(2026, 0, 1) / 1_000])
  })

  test('a resolution that the feed has not is no_data', async () => {
    expect(await times(`${eurusd('BROKERC_TADIL', '1')}&to=${noon}&countback=2`)).toBe('no_data')
  })

  test('the running bar is the last one, folded from closed minutes; /v1 has none', async () => {
    const { body } = await udf(`history?${eurusd('BROKERA_ZERO', '1D')}&from=0&to=${noon}&countback=2`)
    expect(body).toMatchObject({
      t: [monday - 3 * day, monday],
      o: [1.5, 1],
      h: [1.5, 1.0719],
      l: [1.5, 0.5],
      c: [1.5, 1.0719],
    })
    const { body: plain } = await edge.ask(
      `/v1/history?symbol=BROKERA:ZERO:EURUSD&resolution=1D&countback=1`,
      { key: 1 },
    )
    expect(plain.t).toEqual([monday - 3 * day])
  })
})

describe('polls', () => {
  const feed = feedKey('BROKERB', 'LIVE')
  const symbol = compoundKey(feed, 'EURUSD')
  const push = (time: number, close: number, resolution: Resolution = '1') =>
    edge.stores.bus.publish(
      { type: 'bars', feed, bars: [{ symbol, resolution, bar: { ...aBar(time, close), revision: 9 } }] },
      1,
    )
  const poll = async (resolution: string, to: number) =>
    (
      await udf(
        `history?symbol=BROKERB_LIVE:EURUSD&resolution=${resolution}&from=${to - 600}&to=${to}&countback=2`,
      )
    ).body

  test('a poll has a new minute at once, in the minutes and in the running hour', async () => {
    expect((await poll('60', noon)).t).toEqual([noon - 2 * hour, noon - hour])
    await edge.clock.advance(60_000)
    await push(noon, 3)
    await expect.poll(() => poll('60', noon + 60)).toMatchObject({ t: [noon - hour, noon], c: [1.5, 3] })
    await edge.clock.advance(60_000)
    await push(noon + 60, 2)
    await expect
      .poll(() => poll('60', noon + 120))
      .toMatchObject({ t: [noon - hour, noon], o: [1.5, 3], c: [1.5, 2], v: [1, 2] })
    expect((await poll('1', noon + 120)).t).toEqual([noon, noon + 60])
  })

  test('a bar stays until its closed one is there, and that replaces it', async () => {
    await edge.clock.advance(hour * 1_000)
    await push(noon + hour, 4)
    await expect.poll(() => poll('60', noon + hour + 60)).toMatchObject({ t: [noon, noon + hour], c: [2, 4] })
    await push(noon, 2.5, '60')
    await expect
      .poll(() => poll('60', noon + hour + 60))
      .toMatchObject({ t: [noon, noon + hour], c: [2.5, 4] })
  })

  test('polls have windows of their own of ten times the limit; both count in the usage', async () => {
    const limits = { rpm: 2, rpd: 100, wsConnections: 1, wsSymbols: 1 }
    await edge.register(aKey(7, ['BROKERB:LIVE'], { limits }))
    const of = (await edge.ask('/udf/token', { key: 7 })).body.token
    const query = `history?symbol=BROKERB_LIVE:EURUSD&resolution=1&from=0&to=${noon + hour}`
    for (let i = 0; i < 20; i++) expect((await udf(`${query}&countback=2`, of)).body.s).toBe('ok')
    expect(await error(`${query}&countback=5`, of)).toContain(
      'The limit of 20 requests per minute is exceeded',
    )
    expect((await udf(`${query}&countback=300`, of)).body.s).toBe('ok')
    expect(await error(`${query}&countback=300`, of)).toContain(
      'The limit of 2 requests per minute is exceeded',
    )
    await edge.clock.advance(60_000)
    const { body } = await edge.ask('/v1/usage', { key: 7 })
    expect(body.today).toMatchObject({ history: 21, config: 1, rate_limited: 2 })
  })
})

test('no token of a chart appears in a log line or a metric', async () => {
  for (const path of ['config', 'none', 'history?symbol=x', 'a/b', '/config', 'config/', '%61', ''])
    for (const method of ['GET', 'POST', 'OPTIONS']) await edge.ask(`/udf/${token}/${path}`, { method })
  await edge.ask(`/${token}`)
  await edge.ask(`/v1/history?symbol=${token}&resolution=${token}&countback=1`, { key: 1 })
  expect(edge.logged.join('')).toContain('"route":"/udf/:token/config"')
  expect(edge.logged.join('')).not.toMatch(/fxc_[\w-]/)
  expect(await edge.metrics()).not.toMatch(/fxc_[\w-]/)
})
