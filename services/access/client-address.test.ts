import { describe, expect, test } from 'vitest'
import { addressMatcher } from '../platform/addresses.ts'
import { clientAddress } from './client-address.ts'

const trusted = addressMatcher(['10.0.0.0/8', '2001:db8:ffff::/48'])
const from = (peer: string | undefined, forwardedFor?: string | string[]): string =>
  clientAddress({ peer, forwardedFor, trusted })

describe('the client address', () => {
  test.each([
    ['without a proxy the peer is the client', '203.0.113.9', undefined, '203.0.113.9'],
    ['a forged chain from an untrusted peer is worth nothing', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted proxy names the client', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'what a client claimed itself stands further left and is ignored',
      '10.1.2.3',
      '192.0.2.7, 198.51.100.1',
      '198.51.100.1',
    ],
    [
      'a chain of trusted proxies is followed to its first stranger',
      '10.1.2.3',
      '192.0.2.7, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    [
      'a client that claims a trusted address behind its own is not believed',
      '10.1.2.3',
      '10.0.0.1, 198.51.100.1',
      '198.51.100.1',
    ],
    ['with trusted hops only the leftmost is the client', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['an entry that is no address ends the walk at the proxy', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['rubbish left of the client changes nothing', '10.1.2.3', '<x>, 198.51.100.1', '198.51.100.1'],
    ['rubbish right of the client is not skipped', '10.1.2.3', '198.51.100.1, _hidden', '10.1.2.3'],
    ['an empty header is no chain', '10.1.2.3', '', '10.1.2.3'],
    ['a port is cut off', '10.1.2.3', '198.51.100.1:5044', '198.51.100.1'],
    ['a bracketed address loses its brackets and port', '10.1.2.3', '[2001:db8::1]:5044', '2001:db8::1'],
    ['a mapped peer is the same peer', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a mapped entry is the same client', '10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a trusted peer of version 6', '2001:db8:ffff::1', '2001:db8::5', '2001:db8::5'],
    ['an untrusted peer of version 6', '2001:db8:fffe::1', '2001:db8::5', '2001:db8:fffe::1'],
    ['a repeated header is one chain', '10.1.2.3', ['192.0.2.7', '198.51.100.1'], '198.51.100.1'],
    ['a vanished peer has no address', undefined, '198.51.100.1', ''],
  ])('%s', (_, peer, forwardedFor, expected) => {
    expect(from(peer, forwardedFor)).toBe(expected)
  })

  test('an endless chain of trusted hops ends at a bound', () => {
    const chain = ['198.51.100.1', ...Array.from({ length: 1_000 }, () => '10.0.0.1')].join(',')
    expect(from('10.1.2.3', chain)).toBe('10.0.0.1')
  })

  test('nobody is trusted by an empty list', () => {
    expect(
      clientAddress({ peer: '127.0.0.1', forwardedFor: '198.51.100.1', trusted: addressMatcher([]) }),
    ).toBe('127.0.0.1')
  })
})
