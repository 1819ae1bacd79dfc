import { expect, test } from 'vitest'
import { aKey, secretOf } from '../../../test/support/fixtures/rest-fixture.ts'
import { Unavailable } from '../../core/failure.ts'
import { Registry, type RegistryView } from '../../core/registry/registry.ts'
import { systemClock } from '../../platform/system-clock.ts'
import { createCallerOf } from './authenticate.ts'

const registry = new Registry()
registry.apply({ kind: 'key', id: 'key-1', version: 1, body: aKey(1, []) })
const request = (key: string, url = '/') => ({ headers: { 'x-api-key': key }, url }) as never
const callerOf = (view: () => RegistryView) => createCallerOf({ registry: { view }, clock: systemClock })

test('the caller of a request is the key that it offers; all requests without a known key are one caller', () => {
  const of = callerOf(() => registry)
  expect(of(request(secretOf(1)))).toBe('key-1')
  for (const other of [request(secretOf(2)), request('x'), request(''), request('', '/?api_key=a&api_key=b')])
    expect(of(other)).toBe('')
})

test('while the registry is unavailable all requests are one caller', () => {
  const of = callerOf(() => {
    throw new Unavailable('registry')
  })
  expect(of(request(secretOf(1)))).toBe('')
})
