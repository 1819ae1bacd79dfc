import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fromInteger, toInteger } from './prices.ts'

const scale = fc.integer({ min: 0, max: 11 })

test('a price sent as an integer is the same double as its decimal text', () => {
  const text = fc.tuple(fc.integer({ min: 1, max: 9_999_999_999 }), scale).map(([integer, decimals]) => {
    const digits = String(integer).padStart(decimals + 1, '0')
    const point = digits.length - decimals
    return { printed: decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`, decimals }
  })
  fc.assert(
    fc.property(text, ({ printed, decimals }) => {
      expect(fromInteger(toInteger(Number(printed), decimals), decimals)).toBe(Number(printed))
    }),
  )
})

test('half a unit of a mid-quoted feed is exact with one more decimal', () => {
  expect(fromInteger(toInteger(1.100005, 6), 6)).toBe(1.100005)
  expect(toInteger(1.005, 3)).toBe(1_005)
})
