import { expect, test } from 'vitest'
import { addressOf, wordsOf } from './address.ts'

test('a symbol stays readable in the address', () => {
  expect(addressOf('chart', 'BROKERA:ZERO:EURUSD', '60')).toBe('#chart/BROKERA:ZERO:EURUSD/60')
})

test.for(['A:B:EUR/USD', 'A:B:100%', 'A:B:#1 é', "A:B:S&P'500"])(
  'the symbol %s is read from the address as it was',
  (symbol) => {
    expect(wordsOf(addressOf('chart', symbol, '1'))).toEqual(['chart', symbol, '1'])
  },
)

test('an address that a person has damaged has no words', () => {
  expect(wordsOf('#chart/100%')).toEqual([])
  expect(wordsOf('')).toEqual([''])
})
