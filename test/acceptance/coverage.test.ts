import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bar, bitcoinMinutes, euroHours, exportText, googleDays, minutes } from './client/bars.ts'
import { ask, query, read } from './client/http.ts'
import { importFile } from './client/input.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'

interface Range {
  from: number
  to: number
}
const folder = mkdtempSync(join(tmpdir(), 'fxd-coverage-'))
afterAll(() => rmSync(folder, { recursive: true }))

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const coverage = async (symbol: string) =>
  (await read<{ symbol: string; coverage: Range[] }>(`/v1/coverage${query({ symbol })}`, key)).coverage
const everything = () => read<{ coverage: Record<string, Range[]> }>('/v1/coverage', key)
const imported = async (
  bars: readonly Bar[],
  symbol: string,
  resolution = '1',
  more: readonly string[] = [],
) => {
  const file = join(folder, `${symbol}-${resolution}-${bars[0]?.time}.csv`)
  writeFileSync(file, exportText(bars))
  const outcome = await importFile(file, { feed: 'BROKERA:ZERO', symbol, resolution, more })
  expect(outcome.code, outcome.stderr).toBe(0)
}
const span = (bars: readonly Bar[]): Range => ({ from: bars[0]?.time ?? 0, to: bars.at(-1)?.time ?? 0 })
const monday = Date.UTC(2024, 0, 8) / 1000

describe('the answer', () => {
  test('with a symbol the answer is the symbol and its ranges of from and to', async () => {
    const body = await read<{ symbol: string; coverage: Range[] }>(
      '/v1/coverage?symbol=BROKERA:ZERO:BTCUSD',
      key,
    )
    expect(Object.keys(body)).toEqual(['symbol', 'coverage'])
    expect(body.symbol).toBe('BROKERA:ZERO:BTCUSD')
    for (const range of body.coverage) expect(Object.keys(range)).toEqual(['from', 'to'])
  })

  test('without a symbol the answer covers every symbol of the granted feeds and no other', async () => {
    const body = await everything()
    expect(Object.keys(body)).toEqual(['coverage'])
    const { symbols } = await read<{ symbols: { symbol: string }[] }>('/v1/symbols?limit=1000', key)
    const keys = Object.keys(body.coverage)
    expect(keys.toSorted()).toEqual(symbols.map(({ symbol }) => symbol).toSorted())
    expect(keys.some((name) => name.startsWith(`${ungrantedFeed}:`))).toBe(false)
  })

  test('one symbol has the same ranges alone as in the list of all symbols', async () => {
    const { coverage: all } = await everything()
    expect(all['BROKERB:LIVE:GOOGL_CFD.US']).toEqual(await coverage('BROKERB:LIVE:GOOGL_CFD.US'))
  })

  test('a symbol without data has an empty list, alone and in the list of all symbols', async () => {
    expect(await coverage('BROKERD:LIVE:EURUSD')).toEqual([])
    expect((await everything()).coverage['BROKERD:LIVE:EURUSD']).toEqual([])
  })

  test('from and to are the open times of the first and the last bar', async () => {
    expect(await coverage('BROKERA:ZERO:BTCUSD')).toEqual([span(bitcoinMinutes())])
  })

  test('longer resolutions cover the time before the first minute', async () => {
    expect(await coverage('BROKERC:TADIL:BTCUSD')).toHaveLength(1)
    expect((await coverage('BROKERB:LIVE:GOOGL_CFD.US')).at(-1)?.to).toBe(googleDays().at(-1)?.time)
  })
})

describe('gaps', () => {
  test('minutes without trades and weekends are not gaps', async () => {
    expect(await coverage('BROKERA:ZERO:BTCUSD')).toHaveLength(1)
    const weekends = euroHours().filter(
      (bar, index) => bar.time - (euroHours()[index - 1]?.time ?? bar.time) > 7200,
    )
    expect(weekends.length).toBeGreaterThan(40)
    expect(await coverage('BROKERA:ZERO:EURUSD')).toEqual([span(euroHours())])
  })

  test('an import is split into two ranges where neighbouring bars are more than four days apart', async () => {
    const before = minutes(monday, 10, 190, 3)
    const after = minutes(monday + 5 * 86_400, 10, 191, 3)
    await imported([...before, ...after], 'GBPJPY')
    expect(await coverage('BROKERA:ZERO:GBPJPY')).toEqual([span(before), span(after)])
  })

  test('a later import fills the gap and the two ranges become one', async () => {
    const first = minutes(monday, 10, 1.1, 5)
    const last = minutes(monday + 5 * 86_400, 10, 1.2, 5)
    const gap = minutes(monday + 600, 5 * 1440 - 10, 1.15, 5)
    await imported([...first, ...last], 'AUDNZD')
    expect(await coverage('BROKERA:ZERO:AUDNZD')).toHaveLength(2)
    await imported(gap, 'AUDNZD')
    expect(await coverage('BROKERA:ZERO:AUDNZD')).toEqual([{ from: span(first).from, to: span(last).to }])
  })

  test('--max-gap sets how far apart neighbouring bars of one range may be', async () => {
    const before = minutes(monday, 10, 0.95, 5)
    const after = minutes(monday + 7200, 10, 0.95, 5)
    await imported([...before, ...after], 'EURCHF', '1', ['--max-gap', '1h'])
    expect(await coverage('BROKERA:ZERO:EURCHF')).toEqual([span(before), span(after)])
  })

  test('the finest resolution decides where it has data, a longer one only before that', async () => {
    const hours = Array.from({ length: 48 }, (_, index) => ({
      time: monday + index * 3600,
      open: 0.88,
      high: 0.89,
      low: 0.87,
      close: 0.885,
      volume: 5,
    }))
    const fine = minutes(monday + 40 * 3600, 300, 0.88, 5)
    await imported(hours, 'AUDCAD', '60')
    await imported(fine, 'AUDCAD', '1')
    expect(await coverage('BROKERA:ZERO:AUDCAD')).toEqual([{ from: monday, to: fine.at(-1)?.time }])
  })
})

describe('refusals', () => {
  const refusal = async (symbol: string) => {
    const answer = await ask(`/v1/coverage${query({ symbol })}`, { key })
    return { status: answer.status, ...answer.body.error }
  }

  test('a symbol that does not exist is 404', async () => {
    expect(await refusal('BROKERA:ZERO:NOPE')).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
    expect(await refusal('BROKERA')).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
  })

  test('a wrongly cased symbol does not exist', async () => {
    expect(await refusal('BROKERA:ZERO:btcusd')).toMatchObject({ status: 404, code: 'SYMBOL_NOT_FOUND' })
    expect(await refusal('BROKERB:LIVE:googl_CFD.US')).toMatchObject({ status: 404 })
  })

  test('a feed that is not granted is 403 naming the feed', async () => {
    const answer = await refusal(`${ungrantedFeed}:EURUSD`)
    expect(answer).toMatchObject({ status: 403, code: 'SYMBOL_NOT_PERMITTED' })
    expect(answer.message).toContain(ungrantedFeed)
  })
})

test('importing the same file again changes nothing', async () => {
  const file = fileURLToPath(new URL('../data/EURUSD_H1_2017.csv', import.meta.url))
  const before = await coverage('BROKERA:ZERO:EURUSD')
  const again = await importFile(file, { feed: 'BROKERA:ZERO', symbol: 'EURUSD', resolution: '60' })
  expect(again.code, again.stderr).toBe(0)
  expect(again.json).toMatchObject({ accepted: 0, revised: 0, unchanged: 6225 })
  expect(await coverage('BROKERA:ZERO:EURUSD')).toEqual(before)
})
