import { expect, test } from 'vitest'
import { indexIn } from './ascending.ts'

test('a value has its index, and one that is not there has none', () => {
  const values = [1, 4, 9, 16]
  expect(values.map((value) => indexIn(values, value))).toEqual([0, 1, 2, 3])
  expect([0, 5, 17].map((value) => indexIn(values, value))).toEqual([undefined, undefined, undefined])
  expect(indexIn([], 1)).toBeUndefined()
})
