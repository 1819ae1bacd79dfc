import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effort } from '../../../../test/support/effort.ts'
import { numberText } from './number-text.ts'

const wanted = (values: readonly number[]): string => JSON.stringify(values).slice(1, -1)
const written = (values: readonly number[]): string => numberText(Float64Array.from(values)).toString()

/** Prices like those of terminals: integers of a few decimals, and on mid-quoted feeds half a unit more. */
const price = fc
  .record({ integer: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), scale: fc.integer({ min: 0, max: 8 }) })
  .map(({ integer, scale }) => integer / 10 ** scale)

describe('numbers are written as JSON.stringify writes them', () => {
  test('any doubles', () => {
    fc.assert(
      fc.property(fc.array(fc.double()), (values) => {
        expect(written(values)).toBe(wanted(values))
      }),
      { numRuns: 2_000 * effort },
    )
  })

  test('prices of mixed scales', () => {
    fc.assert(
      fc.property(fc.array(price), (values) => {
        expect(written(values)).toBe(wanted(values))
      }),
      { numRuns: 2_000 * effort },
    )
  })

  test('doubles next to a price', () => {
    fc.assert(
      fc.property(price, fc.integer({ min: -3, max: 3 }), (value, steps) => {
        const bits = new BigInt64Array(Float64Array.of(value).buffer)
        bits[0] = (bits[0] as bigint) + BigInt(steps)
        const near = Math.abs(new Float64Array(bits.buffer)[0] as number)
        expect(written([near])).toBe(wanted([near]))
      }),
      { numRuns: 2_000 * effort },
    )
  })

  test.each([
    0,
    -0,
    1,
    10,
    1e15,
    999_999_999_999_999,
    2 ** 53,
    1e21,
    1e-6,
    1e-7,
    0.1 + 0.2,
    5e-324,
    1.7976931348623157e308,
    -1.5,
    1.005,
    123_456.789_012_345,
    0.000_001_5,
    4_294_967_296,
    100_000.5,
    1.123_450_000_000_1,
  ])('%d', (value) => expect(written([value, 1, value])).toBe(wanted([value, 1, value])))

  test('an empty list is an empty text', () => expect(written([])).toBe(''))
})
