import { expect, test } from 'vitest'
import { ask, read } from './client/http.ts'
import { issueKey } from './client/keys.ts'

interface Config {
  supported_resolutions: string[]
  supports_group_request: boolean
  supports_marks: boolean
  supports_search: boolean
  supports_timescale_marks: boolean
  exchanges: { value: string; name: string; desc: string }[]
  symbols_types: { name: string; value: string }[]
}
const config = () => read<Config>('/v1/config')

test('the config needs no key', async () => {
  expect((await ask('/v1/config')).status).toBe(200)
})

test('the config is served even with a key that was never issued', async () => {
  expect((await ask('/v1/config', { key: `fxd_${'0'.repeat(32)}` })).status).toBe(200)
})

test('the config has the fields of the specification in its order', async () => {
  expect(Object.keys(await config())).toEqual([
    'supported_resolutions',
    'supports_group_request',
    'supports_marks',
    'supports_search',
    'supports_timescale_marks',
    'exchanges',
    'symbols_types',
  ])
})

test('the config lists the eleven resolutions', async () => {
  const eleven = ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M']
  expect((await config()).supported_resolutions).toEqual(eleven)
})

test('the config offers search and neither groups nor marks', async () => {
  expect(await config()).toMatchObject({
    supports_group_request: false,
    supports_marks: false,
    supports_search: true,
    supports_timescale_marks: false,
  })
})

test('an exchange is a broker with value, name and desc, each once, ordered by value', async () => {
  const { exchanges } = await config()
  for (const exchange of exchanges) expect(Object.keys(exchange)).toEqual(['value', 'name', 'desc'])
  const values = exchanges.map(({ value }) => value)
  expect(values).toEqual(['BROKERA', 'BROKERB', 'BROKERC', 'BROKERD', 'BROKERE', 'BROKERF', 'BROKERG'])
})

test("an exchange's name and desc are the broker's name, by default its key, and never name an account", async () => {
  const { exchanges } = await config()
  expect(exchanges[0]).toEqual({ value: 'BROKERA', name: 'BROKERA', desc: 'BROKERA' })
  expect(exchanges[1]).toEqual({ value: 'BROKERB', name: 'Broker B Limited', desc: 'Broker B Limited' })
  expect(JSON.stringify(exchanges)).not.toMatch(/ZERO|PRIME|VIP|LIVE|TADIL/)
})

test('the value of an exchange is the broker part of compound keys', async () => {
  const { key } = await issueKey()
  const values = (await config()).exchanges.map(({ value }) => value)
  const { symbols } = await read<{ symbols: { symbol: string; exchange: string }[] }>('/v1/symbols', key)
  expect(symbols.length).toBeGreaterThan(20)
  for (const { symbol, exchange } of symbols) {
    expect(values).toContain(exchange)
    expect(symbol.split(':')[0]).toBe(exchange)
  }
})

test('the symbol types are forex, stock, crypto, index and cfd, each with name and value', async () => {
  const { symbols_types } = await config()
  expect(symbols_types.map(({ value }) => value)).toEqual(['forex', 'stock', 'crypto', 'index', 'cfd'])
  for (const type of symbols_types) expect(Object.keys(type)).toEqual(['name', 'value'])
})
