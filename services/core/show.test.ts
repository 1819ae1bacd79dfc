import fc from 'fast-check'
import { expect, test } from 'vitest'
import { show } from './show.ts'

test.each<[unknown, string]>([
  ['abc', '"abc"'],
  ['a\nb', '"a\\nb"'],
  ['\u0000a\u009b2J\u202eb\u2028', '"\\u0000a\\u{9b}2J\\u{202e}b\\u{2028}"'],
  ['bytes that are no text: \ufffd', '"bytes that are no text: \\u{fffd}"'],
  [5, 'number 5'],
  [5n, 'number 5'],
  [true, 'boolean true'],
  [null, 'null'],
  [undefined, 'nothing'],
  [[1, 2], 'a list of 2'],
  [{ a: 1 }, 'a mapping'],
])('%s is shown as %s', (value, text) => {
  expect(show(value)).toBe(text)
})

test('every value is shown on one short line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.string({ maxLength: 500, unit: 'binary' })), (value) => {
      expect(show(value)).toMatch(/^.{1,400}$/)
    }),
  )
})

test('an API key and a token of a chart are never shown', () => {
  const key = `fxd_${'0123456789abcdef'.repeat(2)}`
  expect(show(`x ${key} ${key.toUpperCase()} y`)).toBe('"x fxd_… fxd_… y"')
  expect(show(`/udf/fxc_eyJrIjoi_-.AbC-d_/time`)).toBe('"/udf/fxc_…/time"')
})
