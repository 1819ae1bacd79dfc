import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compoundKey, feedKey, isFeedKey, parseCompoundKey } from './compound-key.ts'

test('a compound key is split at its first two colons; the instrument keeps dots, colons and case', () => {
  expect(parseCompoundKey('BROKERB:LIVE:BRKb_CFD.US:x')).toEqual({
    broker: 'BROKERB',
    account: 'LIVE',
    feed: 'BROKERB:LIVE',
    name: 'BRKb_CFD.US:x',
  })
})

test.each([
  '',
  'EURUSD',
  'BROKERA:ZERO',
  'BROKERA:ZERO:',
  'BROKERA::EURUSD',
  ':ZERO:EURUSD',
  '::',
  ':',
  'A:',
])('"%s" has fewer than three parts and is rejected as a compound key', (text) => {
  expect(parseCompoundKey(text)).toBeUndefined()
})

test('splitting a compound key returns its parts, and joining the parts of a text returns the text', () => {
  const part = fc.string({ minLength: 1 }).filter((text) => !text.includes(':'))
  fc.assert(
    fc.property(part, part, fc.string({ minLength: 1 }), (broker, account, name) => {
      const feed = feedKey(broker, account)
      expect(parseCompoundKey(compoundKey(feed, name))).toEqual({ broker, account, feed, name })
    }),
  )
  fc.assert(
    fc.property(fc.stringMatching(/^[A:b.]{0,8}$/), (text) => {
      const parts = parseCompoundKey(text)
      if (parts !== undefined)
        expect(compoundKey(feedKey(parts.broker, parts.account), parts.name)).toBe(text)
    }),
  )
})

test.each([
  ['BROKERA:ZERO', true],
  ['BROKER1:Z', true],
  ['brokera:zero', false],
  ['BROKERA', false],
  ['BROKERA:ZERO:EURUSD', false],
  ['1BROKER:ZERO', false],
  ['BROKERA:ZERO\n', false],
])('"%s" as a feed key: %s', (text, isKey) => {
  expect(isFeedKey(text)).toBe(isKey)
})
