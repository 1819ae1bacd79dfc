import { expect, test } from 'vitest'
import { SymbolDigits } from './symbol-digits.ts'

const at = (line: number, decimals: number, path = 'one') => ({ path, line, decimals })

test('a second line with more decimals raises the digits, and one line that is read again does not', () => {
  const digits = new SymbolDigits()
  digits.raise('GBPUSD', 2)
  expect([1, 2, 3].map(() => digits.note('GBPUSD', at(7, 3)))).toEqual([false, false, false])
  expect([digits.note('GBPUSD', at(8, 3)), digits.of('GBPUSD')]).toEqual([true, 3])
  expect([digits.note('GBPUSD', at(9, 3)), digits.of('GBPUSD')]).toEqual([false, 3])
})

test('the same line of another file counts', () => {
  const digits = new SymbolDigits()
  digits.note('GBPUSD', at(7, 3))
  expect([digits.note('GBPUSD', at(7, 3, 'two')), digits.of('GBPUSD')]).toEqual([true, 3])
})

test('of two lines that differ the lesser decides', () => {
  const digits = new SymbolDigits()
  digits.note('GBPUSD', at(7, 9))
  expect([digits.note('GBPUSD', at(8, 4)), digits.of('GBPUSD')]).toEqual([true, 4])
  expect([digits.note('GBPUSD', at(9, 6)), digits.of('GBPUSD')]).toEqual([true, 6])
})

test('lines with more decimals than a symbol may have raise nothing', () => {
  const digits = new SymbolDigits()
  expect([digits.note('GBPUSD', at(7, 11)), digits.note('GBPUSD', at(8, 11)), digits.of('GBPUSD')]).toEqual([
    false,
    false,
    0,
  ])
})

test('a symbol that is forgotten begins anew', () => {
  const digits = new SymbolDigits()
  digits.raise('GBPUSD', 3)
  digits.note('GBPUSD', at(7, 4))
  digits.forget('GBPUSD')
  expect([digits.of('GBPUSD'), digits.note('GBPUSD', at(8, 4)), [...digits.symbols]]).toEqual([0, false, []])
})
