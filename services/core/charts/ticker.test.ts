import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CompoundKey } from '../feeds/compound-key.ts'
import { isCleanName } from '../feeds/symbol-name.ts'
import { feedOfTicker, tickerId, tickerOf } from './ticker.ts'

test.each([
  ['BROKERA:ZERO:EURUSD', 'BROKERA_ZERO:EURUSD'],
  ['BROKERB:LIVE:AAPL_CFD.US', 'BROKERB_LIVE:AAPL_CFD.US'],
  ['BROKERB:LIVE:BFa_CFD.US', 'BROKERB_LIVE:BFA_CFD.US~4'],
  ['BROKERB:LIVE:A:B', 'BROKERB_LIVE:A_B~X0041003A0042'],
])('the ticker of %s is %s', (symbol, ticker) => {
  expect(tickerOf(symbol as CompoundKey)).toBe(ticker)
  expect(feedOfTicker(ticker.toLowerCase())).toBe(symbol.split(':').slice(0, 2).join(':'))
})

test('a text without a feed is no ticker', () => {
  expect(['EURUSD', ':EURUSD', 'BROKERA:EURUSD', 'A_B_C:EURUSD', ''].map(feedOfTicker)).toEqual(
    Array.from({ length: 5 }),
  )
})

/** Names that differ in little: case, colons, marks, and letters whose upper case is another length. */
const names = fc
  .array(fc.constantFrom(...Array.from('aAbB1~:._sSßſİiıIXΣσς')), { minLength: 1, maxLength: 5 })
  .map((letters) => letters.join(''))
  .filter(isCleanName)

test('two names have different tickers in upper case, each with one colon', () => {
  fc.assert(
    fc.property(fc.uniqueArray(names, { maxLength: 60 }), (list) => {
      const tickers = list.map((name) => tickerId(tickerOf(`A:B:${name}` as CompoundKey)))
      expect(new Set(tickers).size).toBe(list.length)
      for (const ticker of tickers) expect(ticker.match(/:/g)).toHaveLength(1)
    }),
    { numRuns: 500 },
  )
})
