import { expect, test } from 'vitest'
import { utcMs } from '../clocks/feed-clock.ts'
import { isKeyShaped, type KeyRecord, keyState, secretIsOpen } from './api-key.ts'

const hex = '0123456789abcdef'.repeat(2)

test.each([
  [`fxd_${hex}`, true],
  [`fxd_${hex}0`, false],
  [`fxd_${hex.slice(1)}`, false],
  [`fxd_${hex.toUpperCase()}`, false],
  [`FXD_${hex}`, false],
  [` fxd_${hex}`, false],
  [`fxd_${hex}\n`, false],
  ['', false],
])('"%s" as the shape of a key: %s', (text, isKey) => {
  expect(isKeyShaped(text)).toBe(isKey)
})

const key = (change: Partial<KeyRecord>): KeyRecord => ({
  id: 'k1',
  name: '',
  prefix: 'fxd_0123',
  secrets: [],
  plan: 'basic',
  limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
  feeds: [],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
  ...change,
})

test('a key is expired from the millisecond of its expiry', () => {
  const expiring = key({ expiresAt: utcMs(1_000) })
  expect(keyState(expiring, utcMs(999))).toBe('active')
  expect(keyState(expiring, utcMs(1_000))).toBe('expired')
  expect(keyState(key({}), utcMs(1e15))).toBe('active')
})

test('a revoked and expired key is inactive', () => {
  expect(keyState(key({ revoked: true, expiresAt: utcMs(1_000) }), utcMs(2_000))).toBe('inactive')
})

test('the old secret of a rotation is rejected once its overlap ends', () => {
  expect(secretIsOpen({ digest: 'd', until: utcMs(1_000) }, utcMs(999))).toBe(true)
  expect(secretIsOpen({ digest: 'd', until: utcMs(1_000) }, utcMs(1_000))).toBe(false)
  expect(secretIsOpen({ digest: 'd' }, utcMs(1e15))).toBe(true)
})
