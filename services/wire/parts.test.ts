import fc from 'fast-check'
import { expect, test } from 'vitest'
import { partBytesMax } from './limits.ts'
import { partsOf } from './parts.ts'

test('the parts of a list have all its items in order, fit a message, and only the last one is marked', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(partBytesMax)), (sizes) => {
      const parts = [...partsOf(sizes, (size) => size)]
      expect(parts.flatMap(({ part }) => part)).toEqual(sizes)
      for (const { part } of parts)
        expect(part.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(partBytesMax)
      expect(parts.map(({ last }) => last)).toEqual(parts.map((_, i) => i === parts.length - 1))
    }),
  )
})

test('an item that is larger than a message is a part of its own', () => {
  const parts = [...partsOf([1, partBytesMax + 1, 1], (size) => size)]
  expect(parts.map(({ part }) => part)).toEqual([[1], [partBytesMax + 1], [1]])
})
