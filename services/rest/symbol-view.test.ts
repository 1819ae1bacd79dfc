import { expect, test } from 'vitest'
import { definition, symbolRecord } from '../../test/support/samples/samples.ts'
import { configView, symbolDetail, symbolEntry } from './symbol-view.ts'

test('a list entry has the eight fields of the specification, in its order', () => {
  expect(JSON.stringify(symbolEntry(symbolRecord(), definition()))).toBe(
    JSON.stringify({
      symbol: 'BROKERA:ZERO:EURUSD',
      display_symbol: 'EURUSD',
      description: 'Euro vs US Dollar (BrokerA Zero)',
      exchange: 'BROKERA',
      type: 'forex',
      digits: 5,
      price_scale: 100_000,
      feed: 'BROKERA:ZERO',
    }),
  )
})

test('a single symbol has all fields of the specification, in its order', () => {
  expect(JSON.stringify(symbolDetail(symbolRecord({ delaySeconds: 900 }), definition()))).toBe(
    JSON.stringify({
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
      delay_seconds: 900,
    }),
  )
})

test('the supported resolutions of a symbol are those of its feed', () => {
  const detail = (resolutions: Parameters<typeof definition>[0]) =>
    symbolDetail(symbolRecord(), definition(resolutions))
  expect(detail({ resolutions: ['60', '240', '1D', '1W', '1M'] })).toMatchObject({
    has_intraday: true,
    has_daily: true,
    has_weekly_and_monthly: true,
    data_status: 'endofday',
  })
  expect(detail({ resolutions: ['1D', '1W'] })).toMatchObject({
    has_intraday: false,
    has_daily: true,
    has_weekly_and_monthly: false,
  })
  expect(detail({ resolutions: ['1D', '1M'] }).has_weekly_and_monthly).toBe(false)
  expect(detail({ resolutions: ['1'] })).toMatchObject({ has_daily: false, data_status: 'streaming' })
})

test('a file source without `follow` has end-of-day data, with `follow` it streams', () => {
  const source = (follow: boolean) => ({ source: { type: 'Mt5Csv', path: 'in', follow } }) as const
  expect(symbolDetail(symbolRecord(), definition(source(false))).data_status).toBe('endofday')
  expect(symbolDetail(symbolRecord(), definition(source(true))).data_status).toBe('streaming')
})

test('the config has one exchange per broker, ordered by value, and no account', () => {
  const feeds = [
    definition({ broker: 'BROKERB', account: 'LIVE', brokerName: 'Broker B' }),
    definition({ account: 'ZERO', brokerName: 'Other words' }),
    definition({ account: 'PRIME', brokerName: 'Broker A' }),
  ]
  expect(configView(feeds)).toEqual({
    supported_resolutions: ['1', '5', '10', '15', '30', '60', '120', '240', '1D', '1W', '1M'],
    supports_group_request: false,
    supports_marks: false,
    supports_search: true,
    supports_timescale_marks: false,
    exchanges: [
      { value: 'BROKERA', name: 'Broker A', desc: 'Broker A' },
      { value: 'BROKERB', name: 'Broker B', desc: 'Broker B' },
    ],
    symbols_types: [
      { name: 'Forex', value: 'forex' },
      { name: 'Stock', value: 'stock' },
      { name: 'Crypto', value: 'crypto' },
      { name: 'Index', value: 'index' },
      { name: 'CFD', value: 'cfd' },
    ],
  })
  expect(configView([]).exchanges).toEqual([])
})

test("exchanges are ordered by value, also if one broker's code begins with another's", () => {
  const values = ['B', 'A1', 'A'].map((broker) => definition({ broker, account: 'LIVE' }))
  expect(configView(values).exchanges.map(({ value }) => value)).toEqual(['A', 'A1', 'B'])
})

test('a configured broker name replaces the default of an earlier account', () => {
  const feeds = [
    definition({ account: 'PRIME', brokerName: 'BROKERA' }),
    definition({ account: 'ZERO', brokerName: 'Broker A' }),
    definition({ account: 'ZZ', brokerName: 'Broker A again' }),
  ]
  expect(configView(feeds).exchanges).toEqual([{ value: 'BROKERA', name: 'Broker A', desc: 'Broker A' }])
})
