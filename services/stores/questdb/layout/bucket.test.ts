import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketOf } from './bucket.ts'

const powers = [1, 2, 4, 8, 16, 32, 64, 128, 256]

test('a name keeps the bucket in which its bars were stored', () => {
  const golden: [string, number, number, number][] = [
    ['EURUSD', 2, 26, 218],
    ['AAPL_CFD.US', 0, 28, 28],
    ['BRK.b_CFD.US', 3, 19, 147],
    ['BRK.B_CFD.US', 2, 30, 190],
    ['é€😀', 3, 15, 239],
  ]
  for (const [name, of4, of32, of256] of golden)
    expect(
      [4, 32, 256].map((buckets) => bucketOf(name, buckets)),
      name,
    ).toEqual([of4, of32, of256])
})

test('every name has one bucket, the same on each call', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...powers), (name, buckets) => {
      const bucket = bucketOf(name, buckets)
      expect(Number.isInteger(bucket) && bucket >= 0 && bucket < buckets).toBe(true)
      expect(bucketOf(name, buckets)).toBe(bucket)
    }),
  )
})

test('similar names are spread over all buckets', () => {
  const sizes = new Array<number>(32).fill(0)
  for (let i = 0; i < 1_622; i++) sizes[bucketOf(`S${i}_CFD.US`, 32)]! += 1
  expect(Math.min(...sizes)).toBeGreaterThan(1_622 / 32 / 2)
  expect(Math.max(...sizes)).toBeLessThan((1_622 / 32) * 1.5)
})
