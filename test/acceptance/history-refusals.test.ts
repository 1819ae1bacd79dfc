import { beforeAll, describe, expect, test } from 'vitest'
import {
  type History,
  type HistoryQuery,
  historyPath,
  readHistory,
  refusedHistory,
} from './client/history.ts'
import { ask } from './client/http.ts'
import { issueKey, ungrantedFeed } from './client/keys.ts'

const bitcoin = 'BROKERA:ZERO:BTCUSD'

let key = ''
beforeAll(async () => {
  key = (await issueKey()).key
})
const answer = (parameters: HistoryQuery) => readHistory(key, parameters)
const refusal = (parameters: HistoryQuery) => refusedHistory(key, parameters)

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

  test('an integer that is not plain decimal digits is 422', async () => {
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

  test('a failure has both error formats with the same text', async () => {
    const got = await ask<{ s: string; errmsg: string; error: { message: string } }>(
      historyPath({ symbol: bitcoin, resolution: '2', countback: 1 }),
      { key },
    )
    expect(Object.keys(got.body)).toEqual(['s', 'errmsg', 'error'])
    expect(got.body.error.message).toBe(got.body.errmsg)
  })

  test('a failure of authentication has both error formats', async () => {
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
