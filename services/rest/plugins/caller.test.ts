import { expect, test } from 'vitest'
import { aKey, secretOf } from '../../../test/support/fixtures/rest-fixture.ts'
import { issueChartToken } from '../../access/chart-token.ts'
import { utcMs } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import { Registry, type RegistryView } from '../../core/registry/registry.ts'
import { systemClock } from '../../platform/system-clock.ts'
import { createCallerOf } from './authenticate.ts'

const registry = new Registry()
registry.apply({ kind: 'key', id: 'key-1', version: 1, body: aKey(1, []) })
const chartKeys = ['k'.repeat(32)]
const request = (key: string, url = '/') => ({ headers: { 'x-api-key': key }, url }) as never
const callerOf = (view: () => RegistryView) =>
  createCallerOf({ registry: { view }, clock: systemClock, chartKeys: () => chartKeys })

test('the caller of a request is the key that it offers; all requests without a known key are one caller', () => {
  const of = callerOf(() => registry)
  expect(of(request(secretOf(1)))).toBe('key-1')
  for (const other of [request(secretOf(2)), request('x'), request(''), request('', '/?api_key=a&api_key=b')])
    expect(of(other)).toBe('')
})

test('the caller of a request for a chart is the key behind its token', () => {
  const of = callerOf(() => registry)
  const key = aKey(1, [])
  const token = issueChartToken(
    { key, secret: key.secrets[0]!, feeds: undefined, until: utcMs(2_000_000_000_000) },
    chartKeys,
  )
  expect(of(request('', `/udf/${token}/history?symbol=x`))).toBe('key-1')
  expect(of(request('', `/udf/${token}x/history`))).toBe('')
})

test('while the registry is unavailable all requests are one caller', () => {
  const of = callerOf(() => {
    throw new Unavailable('registry')
  })
  expect(of(request(secretOf(1)))).toBe('')
})
