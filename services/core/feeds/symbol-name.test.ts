import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cleanName, isCleanName, isShareCfd } from './symbol-name.ts'

test.each<[string, string[], string, string]>([
  ['EURUSD.z', ['.z'], 'EURUSD', 'an exact suffix is taken off'],
  ['EURUSD.Z', ['.z'], 'EURUSD.Z', 'in its own case only'],
  ['EURUSD.z.z', ['.z'], 'EURUSD.z', 'at most once'],
  ['EURUSDm', ['m', 'c'], 'EURUSD', 'one of several'],
  ['EURUSD.pro.z', ['.z', '.pro.z'], 'EURUSD', 'of several that fit the longest'],
  ['USTEC', ['m', 'c'], 'USTEC', 'never by a letter of another case'],
  ['.z', ['.z'], '.z', 'never so that nothing remains'],
  ['AAPL_CFD.US', ['.US'], 'AAPL_CFD.US', 'never the exchange of a share'],
  ['AAPL_CFD.US.z', ['.z', '.US.z'], 'AAPL_CFD.US', 'only what stands behind the exchange'],
  ['AAPL_CFD.USm', ['m'], 'AAPL_CFD.US', 'which is upper-case'],
  ['AAPL_CFD.US', ['S'], 'AAPL_CFD.US', 'and whole'],
  ['BRKb_CFD.US', ['b_CFD.US'], 'BRKb_CFD.US', 'never the identity of a share class'],
  ['Boom 500 Index', ['Index'], 'Boom 500 Index', 'never so that a space is at the end'],
  ['Boom 500.z', ['.z'], 'Boom 500', 'with spaces within the name'],
  ['eurusd', [], 'eurusd', 'nothing is ever upper-cased'],
])('%s with the suffixes %j is %s: %s', (raw, suffixes, clean) => {
  expect(cleanName(raw, suffixes)).toBe(clean)
})

const part = fc.stringMatching(/^[Aaz.m_CFD1]{0,12}$/)

test('a clean name is the raw name or the raw name without exactly one of the suffixes', () => {
  fc.assert(
    fc.property(part, fc.array(part, { maxLength: 4 }), (raw, suffixes) => {
      const clean = cleanName(raw, suffixes)
      const fits = suffixes.map((suffix) => clean + suffix)
      expect(clean === raw || fits.includes(raw)).toBe(true)
      expect(clean === '').toBe(raw === '')
      if (isShareCfd(raw)) expect(clean).toBe(raw)
    }),
  )
})

test.each([
  'EURUSD',
  'AAPL_CFD.US',
  'BRKb_CFD.US',
  '__proto__',
  'US500',
  'EUR USD',
  'Volatility 75 (1s) Index',
  '#SPX',
  'A:B',
  '£X',
  'x'.repeat(64),
])('"%s" is a name', (name) => {
  expect(isCleanName(name)).toBe(true)
})

test.each([
  '',
  ' ',
  ' EURUSD',
  'EURUSD ',
  'EUR  USD',
  'EUR\tUSD',
  'EUR\u0000',
  'EUR\nUSD',
  'EUR\u00a0USD',
  'EUR\u2009USD',
  'EUR \u00a0USD',
  'EUR\u200bUSD',
  'E\ud800',
  'x'.repeat(65),
])('%j is no name', (name) => {
  expect(isCleanName(name)).toBe(false)
})
