import { beforeAll, describe, expect, test } from 'vitest'
import { bitcoinMinutes, euroHours, fold, googleDays } from './client/bars.ts'
import { barsOf, type HistoryQuery, readHistory, refusedHistory } from './client/history.ts'
import { issueKey } from './client/keys.ts'

const bitcoin = 'BROKERA:ZERO:BTCUSD'
const euro = 'BROKERA:ZERO:EURUSD'
const google = 'BROKERB:LIVE:GOOGL_CFD.US'
const far = { from: 0, to: 4_000_000_000 }

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const bars = async (parameters: HistoryQuery) => barsOf(await readHistory(key, parameters))
const answer = (parameters: HistoryQuery) => readHistory(key, parameters)
const refusal = (parameters: HistoryQuery) => refusedHistory(key, parameters)

describe('imported bars are returned with exactly their values', () => {
  test('all 9,399 imported bitcoin minutes are returned', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', ...far })).toEqual(bitcoinMinutes())
  })

  test('all 6,225 imported euro hours are returned', async () => {
    expect(await bars({ symbol: euro, resolution: '60', ...far })).toEqual(euroHours())
  })

  test('all 2,335 imported share days are returned, back to 2009', async () => {
    expect(await bars({ symbol: google, resolution: '1D', ...far })).toEqual(googleDays())
  })
})

describe('the answer', () => {
  test('fields of an answer come in the order of the specification', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 3 })
    expect(Object.keys(got)).toEqual(['s', 't', 'o', 'h', 'l', 'c', 'v', 'meta'])
    expect(Object.keys(got.meta)).toEqual(['symbol', 'resolution', 'bar_count'])
  })

  test('meta names the symbol, the resolution and the number of bars', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 7 })
    expect(got.s).toBe('ok')
    expect(got.meta).toEqual({ symbol: bitcoin, resolution: '1', bar_count: 7 })
  })

  test('the six arrays of an answer are aligned by index', async () => {
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

  test('the time of a bar is its open time', async () => {
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

  test('a range that starts a second later excludes the first bar, one that ends a second earlier the last', async () => {
    expect(await bars({ symbol: euro, resolution: '60', from: first + 1, to: last })).toEqual(inside.slice(1))
    expect(await bars({ symbol: euro, resolution: '60', from: first, to: last - 1 })).toEqual(
      inside.slice(0, -1),
    )
  })

  test('a range whose from equals its to returns that one bar', async () => {
    expect(await bars({ symbol: euro, resolution: '60', from: first, to: first })).toEqual(inside.slice(0, 1))
  })

  test('a range over a weekend returns the bars before and after it', async () => {
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

  test('negative times are accepted', async () => {
    const got = await bars({ symbol: google, resolution: '1D', from: -86_400, to: 4_000_000_000 })
    expect(got).toHaveLength(2335)
  })
})

describe('countback', () => {
  const minutes = bitcoinMinutes()

  test('without a range countback returns the latest bars of the feed', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 10 })).toEqual(minutes.slice(-10))
  })

  test('a countback of one returns the latest bar', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 1 })).toEqual(minutes.slice(-1))
  })

  test('with to countback returns the latest bars up to and including to', async () => {
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

  test('with from and to, countback overrides from', async () => {
    const to = minutes[5000]?.time ?? 0
    const wide = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: 0, to })
    expect(wide).toEqual(minutes.slice(4996, 5001))
    const narrow = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: to, to })
    expect(narrow).toEqual(wide)
  })

  test('with from alone, countback ends now and from is ignored', async () => {
    const got = await bars({ symbol: bitcoin, resolution: '1', countback: 5, from: 3_999_999_999 })
    expect(got).toEqual(minutes.slice(-5))
  })

  test('a countback of 10,000, the maximum, returns every stored bar', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '1', countback: 10_000 })).toEqual(minutes)
  })

  test('a countback outside 1 to 10,000 is 422', async () => {
    for (const countback of [0, -1, 10_001]) {
      const got = await refusal({ symbol: bitcoin, resolution: '1', countback })
      expect(got).toMatchObject({ status: 422, s: 'error', error: { code: 'INVALID_PARAMS' } })
    }
  })

  test('countback before the first bar is no_data', async () => {
    const got = await answer({ symbol: bitcoin, resolution: '1', countback: 5, to: 1_000_000_000 })
    expect(got).toEqual({ s: 'no_data' })
  })
})

describe('clocks', () => {
  test('a window on the feed clock finds the bars of a feed whose clock is years behind UTC', async () => {
    const hours = fold(bitcoinMinutes(), 3600)
    const from = hours[3]?.time ?? 0
    const to = hours[9]?.time ?? 0
    expect(await bars({ symbol: 'BROKERC:TADIL:BTCUSD', resolution: '60', from, to })).toEqual(
      hours.slice(3, 10),
    )
  })

  test('a window in real UTC on a feed years behind UTC is no_data, not an error', async () => {
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
