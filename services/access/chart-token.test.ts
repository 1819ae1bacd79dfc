import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type UtcMs, utcMs } from '../core/clocks/feed-clock.ts'
import { Failure } from '../core/failure.ts'
import { feedKey } from '../core/feeds/compound-key.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import { Registry } from '../core/registry/registry.ts'
import { digestOf } from '../registry/key-digest.ts'
import { authenticateChart, chartFeeds, issueChartToken, keyIdOfChart } from './chart-token.ts'

const now = utcMs(1_000_000_000)
const until = utcMs(now + 60_000)
const chartKeys = ['a'.repeat(32), 'b'.repeat(40)]
const zero = feedKey('BROKERA', 'ZERO')
const prime = feedKey('BROKERA', 'PRIME')
const secretOf = (letter: string) => ({ digest: digestOf(`fxd_${letter.repeat(32)}`).toString('hex') })

const record = (changes: Partial<KeyRecord> = {}): KeyRecord => ({
  id: 'k1',
  name: '',
  prefix: 'fxd_aaaa',
  secrets: [secretOf('a')],
  plan: 'basic',
  limits: { rpm: 1, rpd: 1, wsConnections: 1, wsSymbols: 1 },
  feeds: [zero, prime],
  allowIps: [],
  revoked: false,
  createdAt: utcMs(0),
  ...changes,
})

const issued = record()
const tokenOf = (feeds?: readonly (typeof zero)[], keys: readonly string[] = chartKeys): string =>
  issueChartToken({ key: issued, secret: issued.secrets[0]!, feeds, until }, keys)

/** What a token opens once its key has changed: the feeds, or the code of the refusal. */
function opens(
  token: string,
  {
    key = issued,
    at = now,
    keys = chartKeys,
    address = '192.0.2.1',
  }: {
    key?: KeyRecord
    at?: UtcMs
    keys?: readonly string[]
    address?: string
  } = {},
) {
  const view = new Registry()
  view.apply({ kind: 'key', id: key.id, version: 1, body: key })
  try {
    return authenticateChart({ token, address }, keys, view, at).feeds
  } catch (error) {
    return error instanceof Failure ? error.code : error
  }
}

describe('a chart token', () => {
  test('opens all feeds of its key, or those that it names and the key still has', () => {
    expect(opens(tokenOf())).toEqual([zero, prime])
    expect(opens(tokenOf([prime]))).toEqual([prime])
    expect(opens(tokenOf([prime]), { key: record({ feeds: [zero] }) })).toEqual([])
  })

  test.each([
    ['until its end', { at: utcMs(until - 1) }, [zero, prime]],
    ['not at its end', { at: until }, 'KEY_EXPIRED'],
    [
      'while its secret is open after a rotation',
      { key: record({ secrets: [secretOf('b'), { ...secretOf('a'), until }] }) },
      [zero, prime],
    ],
    [
      'not once the overlap is over',
      { key: record({ secrets: [secretOf('b'), { ...secretOf('a'), until: now }] }) },
      'KEY_EXPIRED',
    ],
    ['not once its secret is gone', { key: record({ secrets: [secretOf('b')] }) }, 'KEY_INVALID'],
    ['not of a revoked key', { key: record({ revoked: true }) }, 'KEY_INACTIVE'],
    ['not of a suspended key', { key: record({ suspended: true }) }, 'KEY_INACTIVE'],
    ['not of an expired key', { key: record({ expiresAt: now }) }, 'KEY_EXPIRED'],
    [
      'not from an address that the key does not list',
      { key: record({ allowIps: ['198.51.100.0/24'] }) },
      'IP_NOT_ALLOWED',
    ],
    ['from one that it lists', { key: record({ allowIps: ['192.0.2.0/24'] }) }, [zero, prime]],
    ['not of a key that is gone', { key: record({ id: 'k2' }) }, 'KEY_INVALID'],
    ['with a chart key that moved down the list', { keys: ['c'.repeat(32), ...chartKeys] }, [zero, prime]],
    ['not with other chart keys', { keys: ['c'.repeat(32)] }, 'KEY_INVALID'],
    ['not without chart keys', { keys: [] }, 'KEY_INVALID'],
  ])('is good %s', (_, changed, wanted) => {
    expect(opens(tokenOf(), changed)).toEqual(wanted)
  })

  test('is refused with any change of a character, and any other text is refused', () => {
    const token = tokenOf()
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...Array.from('aAzZ09-_.')), (place, letter) => {
        const changed = token.slice(0, place) + letter + token.slice(place + 1)
        fc.pre(changed !== token)
        expect(opens(changed)).toBe('KEY_INVALID')
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(opens(text)).toBe('KEY_INVALID')
      }),
    )
    expect(opens(`fxc_${'a'.repeat(5_000)}.${'a'.repeat(43)}`)).toBe('KEY_INVALID')
  })

  test('has no digest of a secret in it, and names its key', () => {
    const [claims = ''] = tokenOf().slice(4).split('.')
    expect(Buffer.from(claims, 'base64url').toString()).not.toContain(issued.secrets[0]!.digest.slice(0, 16))
    expect(keyIdOfChart(tokenOf(), chartKeys)).toBe('k1')
    expect(keyIdOfChart('fxc_x', chartKeys)).toBeUndefined()
  })
})

test('without a chart key of 32 characters or more no token is made', () => {
  expect(() => tokenOf(undefined, ['short'])).toThrow('FXD_CHART_KEYS is not set')
})

test('feeds of a request are those that the key has', () => {
  expect(chartFeeds(undefined, issued)).toBeUndefined()
  expect(chartFeeds('BROKERA:PRIME,BROKERA:PRIME', issued)).toEqual([prime])
  expect(() => chartFeeds('BROKERA', issued)).toThrow('feeds: got "BROKERA", wanted BROKER:ACCOUNT')
  expect(() => chartFeeds('BROKERB:LIVE', issued)).toThrow('no access to the feed BROKERB:LIVE')
})
