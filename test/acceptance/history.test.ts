import { beforeAll, describe, expect, test } from 'vitest'
import { bitcoinMinutes, euroHours, fold, googleDays } from './client/bars.ts'
import { barsOf, type History, historyPath, readHistory } from './client/history.ts'
import { ask, type query } from './client/http.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'

type Parameters_ = Parameters<typeof query>[0]
const bitcoin = 'BROKERA:ZERO:BTCUSD'
const euro = 'BROKERA:ZERO:EURUSD'
const google = 'BROKERB:LIVE:GOOGL_CFD.US'
const far = { from: 0, to: 4_000_000_000 }

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const bars = async (parameters: Parameters_) => barsOf(await readHistory(key, parameters))
const answer = (parameters: Parameters_) => readHistory(key, parameters)
const refusal = async (parameters: Parameters_) => {
  const got = await ask<{ s: string; errmsg: string; error: { code: string; message: string } }>(
    historyPath(parameters),
    { key },
  )
  return { status: got.status, ...got.body }
}

describe('real bars come back figure for figure', () => {
  test('9,399 bitcoin minutes', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', ...far })).toEqual(bitcoinMinutes())
  })

  test('6,225 euro hours', async () => {
    expect(await bars({ symbol: euro, resolution: '60', ...far })).toEqual(euroHours())
  })

  test('2,335 share days, back to 2009', async () => {
    expect(await bars({ symbol: google, resolution: '1D', ...far })).toEqual(googleDays())
  })
})

describe('the answer', () => {
  test('its fields come in the order of the specification', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 3 })
    expect(Object.keys(got)).toEqual(['s', 't', 'o', 'h', 'l', 'c', 'v', 'meta'])
    expect(Object.keys(got.meta)).toEqual(['symbol', 'resolution', 'bar_count'])
  })

  test('meta names the symbol, the resolution and the number of bars', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 7 })
    expect(got.s).toBe('ok')
    expect(got.meta).toEqual({ symbol: bitcoin, resolution: '1', bar_count: 7 })
  })

  test('its six arrays are aligned by index', async () => {
    const { t, o, h, l, c, v } = await answer({ symbol: bitcoin, resolution: '1', ...far })
    for (const column of [o, h, l, c, v]) expect(column).toHaveLength(t.length)
    const index = 4321
    const bar = bitcoinMinutes()[index]
    expect([t[index], o[index], h[index], l[index], c[index], v[index]]).toEqual(Object.values(bar ?? {}))
  })

  test('bars are ordered oldest to newest', async () => {
    const { t } = await answer({ symbol: euro, resolution: '60', countback: 5000 })
    expect(t).toEqual([...t].sort((a, b) => a - b))
    expect(new Set(t).size).toBe(5000)
  })

  test('times and volumes are integers, prices are numbers', async () => {
    const { t, o, h, l, c, v } = await answer({ symbol: bitcoin, resolution: '1', countback: 500 })
    for (const whole of [...t, ...v]) expect(Number.isInteger(whole)).toBe(true)
    for (const price of [...o, ...h, ...l, ...c]) expect(price).toBeGreaterThan(0)
  })

  test('no data is {s: no_data} and nothing else', async () => {
    expect(await answer({ symbol: bitcoin, resolution: '1', from: 60, to: 120 })).toEqual({ s: 'no_data' })
  })

  test('a time is the open of its bar', async () => {
    const [first] = await bars({
      symbol: google,
      resolution: '1D',
      from: 0,
      to: Date.UTC(2009, 4, 24) / 1000,
    })
    expect(first?.time).toBe(Date.UTC(2009, 4, 22) / 1000)
  })
})

describe('a range', () => {
  const hours = euroHours()
  const first = hours[100]?.time ?? 0
  const last = hours[120]?.time ?? 0
  const inside = hours.slice(100, 121)

  test('both ends are inclusive', async () => {
    expect(await bars({ symbol: euro, resolution: '60', from: first, to: last })).toEqual(inside)
  })

  test('a second later at the start leaves the first bar out, a second earlier at the end the last', async () => {
    expect(await bars({ symbol: euro, resolution: '60', from: first + 1, to: last })).toEqual(inside.slice(1))
    expect(await bars({ symbol: euro, resolution: '60', from: first, to: last - 1 })).toEqual(
      inside.slice(0, -1),
    )
  })

  test('from may equal to', async () => {
    expect(await bars({ symbol: euro, resolution: '60', from: first, to: first })).toEqual(inside.slice(0, 1))
  })

  test('a range over a weekend holds the bars of both sides', async () => {
    const friday = Date.UTC(2017, 2, 3, 20) / 1000
    const monday = Date.UTC(2017, 2, 6, 3) / 1000
    const expected = hours.filter(({ time }) => time >= friday && time <= monday)
    expect(expected.length).toBeGreaterThan(5)
    expect(await bars({ symbol: euro, resolution: '60', from: friday, to: monday })).toEqual(expected)
  })

  test('a range inside a weekend is no_data', async () => {
    const saturday = Date.UTC(2017, 2, 4) / 1000
    const got = await answer({ symbol: euro, resolution: '60', from: saturday, to: saturday + 86_400 })
    expect(got).toEqual({ s: 'no_data' })
  })

  test('negative times are times', async () => {
    const got = await bars({ symbol: google, resolution: '1D', from: -86_400, to: 4_000_000_000 })
    expect(got).toHaveLength(2335)
  })
})

describe('countback', () => {
  const minutes = bitcoinMinutes()

  test('without a range it gives the latest bars of the feed', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 10 })).toEqual(minutes.slice(-10))
  })

  test('one bar may be asked for', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 1 })).toEqual(minutes.slice(-1))
  })

  test('with to it gives the latest bars ending at to, the bar at to included', async () => {
    const to = minutes[5000]?.time ?? 0
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 50, to })).toEqual(
      minutes.slice(4951, 5001),
    )
    const before = await bars({ symbol: bitcoin, resolution: '1', countback: 50, to: to - 1 })
    expect(before).toEqual(minutes.slice(4950, 5000))
  })

  test('scrolling back does not stop at a weekend', async () => {
    const monday = Date.UTC(2017, 2, 6, 1) / 1000
    const expected = euroHours().filter(({ time }) => time <= monday)
    const got = await bars({ symbol: euro, resolution: '60', countback: 150, to: monday })
    expect(got).toEqual(expected.slice(-150))
  })

  test('with from and to it wins over from', async () => {
    const to = minutes[5000]?.time ?? 0
    const wide = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: 0, to })
    expect(wide).toEqual(minutes.slice(4996, 5001))
    const narrow = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: to, to })
    expect(narrow).toEqual(wide)
  })

  test('with from alone it ends now and ignores from', async () => {
    const got = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: 3_999_999_999 })
    expect(got).toEqual(minutes.slice(-5))
  })

  test('10,000 is the maximum and gives what there is', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 10_000 })).toEqual(minutes)
  })

  test('outside 1 to 10,000 it is 422', async () => {
    for (const countback of [0, -1, 10_001]) {
      const got = await refusal({ symbol: bitcoin, resolution: '1', countback })
      expect(got).toMatchObject({ status: 422, s: 'error', error: { code: 'INVALID_PARAMS' } })
    }
  })

  test('before the first bar it is no_data', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 5, to: 1_000_000_000 })
    expect(got).toEqual({ s: 'no_data' })
  })
})

describe('resolutions', () => {
  const seconds = { '5': 300, '10': 600, '15': 900, '60': 3600, '120': 7200, '240': 14_400, '1D': 86_400 }

  test.for(Object.entries(seconds))(
    'bars of %s last %d seconds and hold the minutes in them',
    async ([resolution, each]) => {
      expect(await bars({ symbol: bitcoin, resolution, ...far })).toEqual(fold(bitcoinMinutes(), each))
    },
  )

  test('a week opens on Sunday and a month on its first, and one that began before the data is left out', async () => {
    const opens = Date.UTC(2013, 11, 1) / 1000
    const inside = bitcoinMinutes().filter(({ time }) => time >= opens)
    const [whole] = fold(inside, 86_400)
    for (const resolution of ['1W', '1M']) {
      expect(await bars({ symbol: bitcoin, resolution, ...far })).toEqual([whole])
    }
  })

  test('each of the eleven is accepted', async () => {
    for (const resolution of ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M']) {
      const got = await answer({ symbol: bitcoin, resolution, countback: 1 })
      expect(got).toMatchObject({ s: 'ok', meta: { resolution, bar_count: 1 } })
    }
  })

  test('anything else is 422 naming the parameter, what it got and what it wants', async () => {
    for (const resolution of ['2', '1d', '60 ', 'H1', '1440']) {
      const got = await refusal({ symbol: bitcoin, resolution, countback: 1 })
      expect(got).toMatchObject({ status: 422, error: { code: 'INVALID_PARAMS' } })
      expect(got.errmsg).toContain('resolution')
      expect(got.errmsg).toContain(resolution)
      expect(got.errmsg).toContain('1D')
    }
  })

  test('the exchange-terminal feed serves hours and answers no_data for minutes', async () => {
    const symbol = 'BROKERC:TADIL:BTCUSD'
    expect(await bars({ symbol, resolution: '60', ...far })).toEqual(fold(bitcoinMinutes(), 3600))
    for (const resolution of ['1', '5', '10', '15', '30', '120']) {
      expect(await answer({ symbol, resolution, countback: 5 })).toEqual({ s: 'no_data' })
    }
  })

  test('a resolution of which a symbol has no bars is no_data', async () => {
    expect(await answer({ symbol: euro, resolution: '240', countback: 5 })).toEqual({ s: 'no_data' })
  })
})

describe('thirty minutes', () => {
  const halfHours = fold(bitcoinMinutes(), 1800)

  test('they are folded from the minutes that hold a bar', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '30', ...far })).toEqual(halfHours)
  })

  test('countback and range agree on them', async () => {
    const to = halfHours[200]?.time ?? 0
    const counted = await bars({ symbol: bitcoin, resolution: '30', countback: 20, to })
    expect(counted).toEqual(halfHours.slice(181, 201))
    const from = halfHours[181]?.time ?? 0
    expect(await bars({ symbol: bitcoin, resolution: '30', from, to })).toEqual(counted)
  })

  test('both ends of a range are inclusive on their open times', async () => {
    const from = (halfHours[50]?.time ?? 0) + 1
    const to = halfHours[60]?.time ?? 0
    expect(await bars({ symbol: bitcoin, resolution: '30', from, to })).toEqual(halfHours.slice(51, 61))
  })

  test('a symbol with hours and no minutes has none', async () => {
    expect(await answer({ symbol: euro, resolution: '30', countback: 5 })).toEqual({ s: 'no_data' })
  })
})

describe('unknown and wrongly cased keys', () => {
  test('a wrongly cased key is no_data', async () => {
    for (const symbol of ['BROKERA:ZERO:btcusd', 'brokera:ZERO:BTCUSD', 'BROKERA:zero:BTCUSD']) {
      expect(await answer({ symbol, resolution: '1', countback: 5 })).toEqual({ s: 'no_data' })
    }
  })

  test('an unknown symbol is no_data', async () => {
    for (const symbol of ['BROKERA:ZERO:NOPE', 'BROKERA:ZERO:BTCUSD.z', 'BROKERA:ZERO:__proto__']) {
      expect(await answer({ symbol, resolution: '1', countback: 5 })).toEqual({ s: 'no_data' })
    }
  })

  test('a symbol of a feed that does not exist is no_data', async () => {
    const got = await answer({ symbol: 'BROKERX:LIVE:BTCUSD', resolution: '1', countback: 5 })
    expect(got).toEqual({ s: 'no_data' })
  })

  test('a key of fewer than three parts is no_data', async () => {
    for (const symbol of ['BTCUSD', 'BROKERA:ZERO', '::']) {
      expect(await answer({ symbol, resolution: '1', countback: 5 })).toEqual({ s: 'no_data' })
    }
  })

  test('a share class in another case is another symbol', async () => {
    const got = await answer({ symbol: 'BROKERB:LIVE:googl_CFD.US', resolution: '1D', countback: 5 })
    expect(got).toEqual({ s: 'no_data' })
  })
})

describe('refusals', () => {
  test('a missing symbol is 422 with the text "symbol not found"', async () => {
    expect(await refusal({ resolution: '1', countback: 5 })).toMatchObject({
      status: 422,
      s: 'error',
      errmsg: 'symbol not found',
      error: { code: 'INVALID_PARAMS' },
    })
    expect(await refusal({ symbol: '', resolution: '1', countback: 5 })).toMatchObject({
      status: 422,
      errmsg: 'symbol not found',
    })
  })

  test('a missing resolution is 422', async () => {
    const got = await refusal({ symbol: bitcoin, countback: 5 })
    expect(got).toMatchObject({ status: 422, error: { code: 'INVALID_PARAMS' } })
    expect(got.errmsg).toContain('resolution')
  })

  test('neither a range nor countback is 422', async () => {
    const got = await refusal({ symbol: bitcoin, resolution: '1' })
    expect(got).toMatchObject({ status: 422, s: 'error', error: { code: 'INVALID_PARAMS' } })
  })

  test('one end of a range alone is 422', async () => {
    expect(await refusal({ symbol: bitcoin, resolution: '1', from: 0 })).toMatchObject({ status: 422 })
    expect(await refusal({ symbol: bitcoin, resolution: '1', to: 0 })).toMatchObject({ status: 422 })
  })

  test('from after to is 422', async () => {
    const got = await refusal({ symbol: bitcoin, resolution: '1', from: 200, to: 100 })
    expect(got).toMatchObject({ status: 422, error: { code: 'INVALID_PARAMS' } })
  })

  test('only plain decimal digits are integers', async () => {
    for (const wrong of ['1e3', '0x10', '1.5', ' 5', '+5', 'ten', '٣', '99999999999999999999']) {
      const got = await refusal({ symbol: bitcoin, resolution: '1', countback: wrong })
      expect(got, wrong).toMatchObject({ status: 422, error: { code: 'INVALID_PARAMS' } })
      expect(got.errmsg).toContain('countback')
    }
    for (const name of ['from', 'to']) {
      const range = { from: '0', to: '100', [name]: '1e3' }
      const got = await refusal({ symbol: bitcoin, resolution: '1', ...range })
      expect(got.status).toBe(422)
      expect(got.errmsg).toContain(name)
      expect(got.errmsg).toContain('1e3')
    }
  })

  test('a feed that is not granted is 403 naming the feed', async () => {
    const got = await refusal({ symbol: `${ungrantedFeed}:EURUSD`, resolution: '1', countback: 5 })
    expect(got).toMatchObject({ status: 403, s: 'error', error: { code: 'SYMBOL_NOT_PERMITTED' } })
    expect(got.error.message).toContain(ungrantedFeed)
    expect(got.errmsg).toContain(ungrantedFeed)
  })

  test('a failure carries both shapes with one text', async () => {
    const got = await ask<{ s: string; errmsg: string; error: { message: string } }>(
      historyPath({ symbol: bitcoin, resolution: '2', countback: 1 }),
      { key },
    )
    expect(Object.keys(got.body)).toEqual(['s', 'errmsg', 'error'])
    expect(got.body.error.message).toBe(got.body.errmsg)
  })

  test('a failure of authentication carries both shapes too', async () => {
    const got = await ask(historyPath({ symbol: bitcoin, resolution: '1', countback: 1 }))
    expect(got.status).toBe(401)
    expect(got.body).toMatchObject({ s: 'error', error: { code: 'UNAUTHORIZED' } })
  })

  test('unknown parameters are ignored', async () => {
    const plain: History = await answer({ symbol: bitcoin, resolution: '1', countback: 2 })
    const more = await answer({ symbol: bitcoin, resolution: '1', countback: 2, currencyCode: 'USD' })
    expect(more).toEqual(plain)
  })
})

describe('clocks', () => {
  test('a window on the feed clock of a feed years away finds its bars', async () => {
    const hours = fold(bitcoinMinutes(), 3600)
    const from = hours[3]?.time ?? 0
    const to = hours[9]?.time ?? 0
    expect(await bars({ symbol: 'BROKERC:TADIL:BTCUSD', resolution: '60', from, to })).toEqual(
      hours.slice(3, 10),
    )
  })

  test('a window in real UTC on that feed is no_data and no error', async () => {
    const hours = fold(bitcoinMinutes(), 3600)
    const offset = 347_155_200
    const from = (hours[0]?.time ?? 0) + offset
    const got = await answer({
      symbol: 'BROKERC:TADIL:BTCUSD',
      resolution: '60',
      from,
      to: from + 86_400 * 8,
    })
    expect(got).toEqual({ s: 'no_data' })
  })

  test("countback is resolved against the feed's own clock on every feed", async () => {
    const tadil = await bars({ symbol: 'BROKERC:TADIL:BTCUSD', resolution: '60', countback: 5 })
    expect(tadil).toEqual(fold(bitcoinMinutes(), 3600).slice(-5))
    const zero = await bars({ symbol: euro, resolution: '60', countback: 5 })
    expect(zero).toEqual(euroHours().slice(-5))
  })
})
