import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../core/failure.ts'
import { resolutions } from '../core/feeds/resolution.ts'
import { type IntegerRule, integerParam, type ParamValue, resolutionParam, textParam } from './params.ts'

/** The message of the refusal; any other outcome fails the test. */
function refusal(parse: () => unknown): string {
  try {
    return `accepted as ${String(parse())}`
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_PARAMS') return error.message
    throw error
  }
}

test('an absent or empty value returns the default', () => {
  for (const value of [undefined, '']) {
    expect(integerParam('limit', value, { default: 100 })).toBe(100)
    expect(integerParam('from', value)).toBeUndefined()
    expect(resolutionParam('resolution', value)).toBeUndefined()
    expect(textParam('search', value, 64)).toBeUndefined()
  }
})

test.each<[ParamValue, IntegerRule, string]>([
  ['abc', { min: 1, max: 10 }, 'n: got "abc", wanted a whole number from 1 to 10'],
  ['1.5', { min: 0 }, 'n: got "1.5", wanted a whole number, 0 or more'],
  ['1e3', {}, 'n: got "1e3", wanted a whole number in plain digits'],
  ['0x10', {}, 'got "0x10"'],
  ['+5', {}, 'got "+5"'],
  [' 5', {}, 'got " 5"'],
  ['5 ', {}, 'got "5 "'],
  ['5\n', {}, 'got "5\\n"'],
  ['٥', {}, 'got "٥"'],
  ['-5', {}, 'got "-5"'],
  ['--5', { signed: true }, 'got "--5", wanted a whole number of Unix seconds'],
  ['-', { signed: true }, 'got "-"'],
  ['0', { min: 1, clampAbove: 1_000 }, 'got "0", wanted a whole number from 1 to 1000'],
  ['10001', { min: 1, max: 10_000 }, 'got "10001", wanted a whole number from 1 to 10000'],
  ['9007199254740993', { signed: true }, 'got "9007199254740993"'],
  ['9'.repeat(400), {}, `got "${'9'.repeat(48)}…"`],
  [['1', '2'], { min: 1, max: 5 }, 'n: got it 2 times, wanted it once, a whole number from 1 to 5'],
  [['1'], {}, 'n: got it 1 times'],
])('%j with %j is refused with the parameter, its value and what is wanted', (value, rule, words) => {
  expect(refusal(() => integerParam('n', value, rule))).toContain(words)
})

test.each<[string, IntegerRule, number]>([
  ['0', {}, 0],
  ['1', { min: 1, max: 1 }, 1],
  ['007', {}, 7],
  ['-1', { signed: true }, -1],
  ['-0', { signed: true }, 0],
  ['1000', { min: 1, clampAbove: 1_000 }, 1_000],
  ['1001', { min: 1, clampAbove: 1_000 }, 1_000],
  ['9'.repeat(400), { clampAbove: 90 }, 90],
])('"%s" is parsed with the options %j as %i', (value, rule, expected) => {
  expect(integerParam('n', value, rule)).toBe(expected)
})

test('a resolution is one of the eleven, case-sensitive', () => {
  for (const r of resolutions) expect(resolutionParam('resolution', r)).toBe(r)
  const wanted = 'wanted one of 1, 5, 10, 15, 30, 60, 120, 240, 1D, 1W, 1M'
  for (const wrong of ['1d', 'D', '2', '1m', '01', '__proto__', 'constructor']) {
    expect(refusal(() => resolutionParam('resolution', wrong))).toBe(`resolution: got "${wrong}", ${wanted}`)
  }
  expect(refusal(() => resolutionParam('resolution', ['1', '5']))).toContain('resolution: got it 2 times')
})

test('a text above its maximum length is refused', () => {
  expect(textParam('search', 'x'.repeat(64), 64)).toHaveLength(64)
  expect(refusal(() => textParam('search', 'x'.repeat(65), 64))).toContain('wanted at most 64 characters')
  // A character outside of the basic plane counts once.
  expect(textParam('search', '📈'.repeat(64), 64)).toBe('📈'.repeat(64))
  expect(refusal(() => textParam('search', '📈'.repeat(65), 64))).not.toBe('')
  expect(refusal(() => textParam('search', ['a', 'b'], 64))).toBe(
    'search: got it 2 times, wanted it once, at most 64 characters',
  )
  expect(refusal(() => textParam('symbol', ['a', 'b']))).toBe('symbol: got it 2 times, wanted it once')
  expect(textParam('symbol', 'x'.repeat(1_000))).toHaveLength(1_000)
})

test('an API key in the wrong parameter is not quoted in the error', () => {
  const key = `fxd_${'0123456789abcdef'.repeat(2)}`
  expect(refusal(() => integerParam('limit', key))).toContain('got "fxd_…"')
})

test('every value is parsed or refused with INVALID_PARAMS', () => {
  const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.anything()) as fc.Arbitrary<ParamValue>
  const rule = fc.record(
    {
      min: fc.integer(),
      max: fc.integer(),
      clampAbove: fc.integer(),
      signed: fc.boolean(),
      default: fc.integer(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(value, rule, (any, given) => {
      expect(refusal(() => integerParam('n', any, given))).not.toBe('')
      expect(refusal(() => resolutionParam('n', any))).not.toBe('')
      expect(refusal(() => textParam('n', any, 8))).not.toBe('')
    }),
  )
})

test('every integer is parsed from its digits, and no other text is', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (integer) => {
      expect(integerParam('n', String(integer), { signed: true })).toBe(integer)
    }),
  )
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!/^-?\d*$/.test(text))
      expect(refusal(() => integerParam('n', text, { signed: true }))).toContain('n: got ')
    }),
  )
})
