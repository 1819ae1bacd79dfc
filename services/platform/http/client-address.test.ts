import { describe, expect, test } from 'vitest'
import { addressMatcher } from '../addresses.ts'
import { clientAddress } from './client-address.ts'

const trusted = addressMatcher(['10.0.0.0/8', '2001:db8:ffff::/48'])
const from = (peer: string | undefined, forwardedFor?: string | string[]): string =>
  clientAddress({ peer, forwardedFor, trusted })

describe('the client address', () => {
  test.each([
    ['without a proxy the peer is the client', '203.0.113.9', undefined, '203.0.113.9'],
    ['a chain from an untrusted peer is ignored', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted proxy names the client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'an entry that the client added is further left and is ignored',
      '10.1.2.3',
      '192.0.2.7, 198.51.100.1',
      '198.51.100.1',
    ],
    [
      'a chain of trusted proxies is followed to the first untrusted address',
      '10.1.2.3',
      '192.0.2.7, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    [
      'a trusted address that the client added left of its own is ignored',
      '10.1.2.3',
      '10.0.0.1, 198.51.100.1',
      '198.51.100.1',
    ],
    [
      'in a chain of trusted addresses only, the leftmost is the client',
      '10.1.2.3',
      '10.0.0.1, 10.0.0.2',
      '10.0.0.1',
    ],
    ['an entry that is no address ends the chain at the proxy', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['an invalid entry left of the client changes nothing', '10.1.2.3', '<x>, 198.51.100.1', '198.51.100.1'],
    ['an invalid entry right of the client is not skipped', '10.1.2.3', '198.51.100.1, _hidden', '10.1.2.3'],
    ['an empty header counts as no chain', '10.1.2.3', '', '10.1.2.3'],
    ['a port is removed', '10.1.2.3', '198.51.100.1:5044', '198.51.100.1'],
    ['a bracketed address loses its brackets and port', '10.1.2.3', '[2001:db8::1]:5044', '2001:db8::1'],
    ['an IPv4-mapped peer equals its IPv4 address', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['an IPv4-mapped entry equals its IPv4 address', '10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a trusted IPv6 peer', '2001:db8:ffff::1', '2001:db8::5', '2001:db8::5'],
    ['an untrusted IPv6 peer', '2001:db8:fffe::1', '2001:db8::5', '2001:db8:fffe::1'],
    ['repeated headers are one chain', '10.1.2.3', ['192.0.2.7', '198.51.100.1'], '198.51.100.1'],
    ['a closed connection has no address', undefined, '198.51.100.1', ''],
  ])('%s', (_, peer, forwardedFor, expected) => {
    expect(from(peer, forwardedFor)).toBe(expected)
  })

  test('a long chain of trusted addresses ends at the maximum', () => {
    const chain = ['198.51.100.1', ...Array.from({ length: 1_000 }, () => '10.0.0.1')].join(',')
    expect(from('10.1.2.3', chain)).toBe('10.0.0.1')
  })

  test('with an empty list of proxies no peer is trusted', () => {
    expect(
      clientAddress({ peer: '127.0.0.1', forwardedFor: '198.51.100.1', trusted: addressMatcher([]) }),
    ).toBe('127.0.0.1')
  })
})
