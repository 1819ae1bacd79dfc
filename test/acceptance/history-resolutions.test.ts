import { beforeAll, describe, expect, test } from 'vitest'
import { bitcoinMinutes, fold } from './client/bars.ts'
import { barsOf, type HistoryQuery, readHistory, refusedHistory } from './client/history.ts'
import { issueKey } from './client/keys.ts'

const bitcoin = 'BROKERA:ZERO:BTCUSD'
const euro = 'BROKERA:ZERO:EURUSD'
const far = { from: 0, to: 4_000_000_000 }

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const bars = async (parameters: HistoryQuery) => barsOf(await readHistory(key, parameters))
const answer = (parameters: HistoryQuery) => readHistory(key, parameters)
const refusal = (parameters: HistoryQuery) => refusedHistory(key, parameters)

describe('resolutions', () => {
  const seconds = { '5': 300, '10': 600, '15': 900, '60': 3600, '120': 7200, '240': 14_400, '1D': 86_400 }

  test.for(Object.entries(seconds))(
    'a bar of %s lasts %d seconds and is the fold of its minutes',
    async ([resolution, each]) => {
      expect(await bars({ symbol: bitcoin, resolution, ...far })).toEqual(fold(bitcoinMinutes(), each))
    },
  )

  test('a week opens on Sunday and a month on its first day; one that began before the data is left out', async () => {
    const opens = Date.UTC(2013, 11, 1) / 1000
    const inside = bitcoinMinutes().filter(({ time }) => time >= opens)
    const [whole] = fold(inside, 86_400)
    for (const resolution of ['1W', '1M']) {
      expect(await bars({ symbol: bitcoin, resolution, ...far })).toEqual([whole])
    }
  })

  test('each of the eleven resolutions is accepted', async () => {
    for (const resolution of ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M']) {
      const got = await answer({ symbol: bitcoin, resolution, countback: 1 })
      expect(got).toMatchObject({ s: 'ok', meta: { resolution, bar_count: 1 } })
    }
  })

  test('any other resolution is 422 naming the parameter, the given value and the valid values', async () => {
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

  test('a resolution without bars of the symbol is no_data', async () => {
    expect(await answer({ symbol: euro, resolution: '240', countback: 5 })).toEqual({ s: 'no_data' })
  })
})

describe('30-minute bars', () => {
  const halfHours = fold(bitcoinMinutes(), 1800)

  test('30-minute bars are the fold of the stored minutes', async () => {
    expect(await bars({ symbol: bitcoin, resolution: '30', ...far })).toEqual(halfHours)
  })

  test('countback and range return the same 30-minute bars', async () => {
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

  test('a symbol with hours and without minutes has no 30-minute bars', async () => {
    expect(await answer({ symbol: euro, resolution: '30', countback: 5 })).toEqual({ s: 'no_data' })
  })
})
