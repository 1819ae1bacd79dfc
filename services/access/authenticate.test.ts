import { describe, expect, test } from 'vitest'
import { type UtcMs, utcMs } from '../core/clocks/feed-clock.ts'
import { Failure } from '../core/failure.ts'
import { feedKey } from '../core/feeds/compound-key.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import { Registry, type RegistryView } from '../core/registry/registry.ts'
import { digestOf } from '../registry/key-digest.ts'
import { authenticate } from './authenticate.ts'
import { grant } from './grant.ts'

const secret = `fxd_${'0a'.repeat(16)}`
const oldSecret = `fxd_${'0b'.repeat(16)}`
const now = utcMs(1_000_000)

const record = (changes: Partial<KeyRecord> = {}): KeyRecord => ({
  id: 'k1',
  name: '',
  prefix: secret.slice(0, 8),
  secrets: [{ digest: digestOf(secret).toString('hex') }],
  plan: 'basic',
  limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
  feeds: [feedKey('BROKERA', 'ZERO')],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
  ...changes,
})

function registryWith(key: KeyRecord): Registry {
  const registry = new Registry()
  registry.apply({ kind: 'key', id: key.id, version: 1, body: key })
  return registry
}

function codeOf(view: RegistryView, credential: string | undefined, address = '192.0.2.1', at: UtcMs = now) {
  try {
    return authenticate({ credential, address }, view, at).id
  } catch (error) {
    return error instanceof Failure ? error.code : error
  }
}

describe('authenticate', () => {
  test('a known key is accepted', () => expect(codeOf(registryWith(record()), secret)).toBe('k1'))
  test('no key is UNAUTHORIZED', () => expect(codeOf(registryWith(record()), undefined)).toBe('UNAUTHORIZED'))
  test('an unknown key is KEY_INVALID', () =>
    expect(codeOf(registryWith(record()), oldSecret)).toBe('KEY_INVALID'))

  test.each(['x', `${secret}0`, secret.toUpperCase(), secret.slice(0, -1), '__proto__', `${secret} `])(
    'a text of the wrong shape is KEY_INVALID without a look-up: %s',
    (text) => {
      const view = registryWith(record())
      view.keys.byDigest = () => expect.unreachable('the key was looked up')
      expect(codeOf(view, text)).toBe('KEY_INVALID')
    },
  )

  test('a revoked key is KEY_INACTIVE, even if it is expired too', () =>
    expect(codeOf(registryWith(record({ revoked: true, expiresAt: utcMs(1) })), secret)).toBe('KEY_INACTIVE'))

  test('a key is KEY_EXPIRED from the moment of its expiry, from any address', () => {
    const view = registryWith(record({ expiresAt: now, allowIps: ['10.0.0.1'] }))
    expect(codeOf(view, secret)).toBe('KEY_EXPIRED')
    expect(codeOf(view, secret, '10.0.0.1', utcMs(now - 1))).toBe('k1')
  })

  test.each([
    ['192.0.2.1', 'k1'],
    ['::ffff:192.0.2.1', 'k1'],
    ['192.0.2.2', 'IP_NOT_ALLOWED'],
    ['198.51.100.77', 'k1'],
    ['198.51.101.1', 'IP_NOT_ALLOWED'],
    ['2001:db8::77', 'k1'],
    ['2001:db9::77', 'IP_NOT_ALLOWED'],
    ['', 'IP_NOT_ALLOWED'],
  ])('with an allowlist of addresses and blocks the address %s gives %s', (address, expected) => {
    const view = registryWith(record({ allowIps: ['192.0.2.1', '198.51.100.0/24', '2001:db8::/32'] }))
    expect(codeOf(view, secret, address)).toBe(expected)
  })

  test('a changed allowlist is effective with the new record', () => {
    const view = registryWith(record({ allowIps: ['192.0.2.1'] }))
    expect(codeOf(view, secret, '192.0.2.1')).toBe('k1')
    view.apply({ kind: 'key', id: 'k1', version: 2, body: record({ allowIps: ['192.0.2.2'] }) })
    expect(codeOf(view, secret, '192.0.2.1')).toBe('IP_NOT_ALLOWED')
  })

  test('the old secret of a rotation is valid until the end of the overlap', () => {
    const secrets = [...record().secrets, { digest: digestOf(oldSecret).toString('hex'), until: now }]
    const view = registryWith(record({ secrets }))
    expect(codeOf(view, oldSecret, undefined, utcMs(now - 1))).toBe('k1')
    expect(codeOf(view, oldSecret)).toBe('KEY_INVALID')
    expect(codeOf(view, secret)).toBe('k1')
  })
})

describe('grant', () => {
  test('the refusal names the feed that is not granted', () => {
    expect(() => grant(record(), feedKey('BROKERB', 'LIVE'))).toThrow(/BROKERB:LIVE/)
    expect(() => grant(record(), feedKey('BROKERA', 'ZERO'))).not.toThrow()
  })
})
