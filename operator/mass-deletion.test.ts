import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowedOf, mayGo } from './mass-deletion.ts'

const things = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

test('up to five things go, and more when they are at most a fifth', () => {
  expect(mayGo(things(5), { total: 5, allowed: undefined })).toHaveLength(5)
  expect(mayGo(things(6), { total: 30, allowed: undefined })).toHaveLength(6)
  expect(mayGo(things(6), { total: 29, allowed: undefined })).toHaveLength(0)
})

test('more go only when a person allowed exactly their number', () => {
  expect(mayGo(things(12), { total: 12, allowed: 12 })).toHaveLength(12)
  for (const allowed of [11, 13, 0]) expect(mayGo(things(12), { total: 12, allowed })).toHaveLength(0)
})

test('never more than five and a fifth go without a word of a person', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), (gone, others) => {
      const total = gone + others
      const { length } = mayGo(things(gone), { total, allowed: undefined })
      expect(length === 0 || length === gone).toBe(true)
      expect(length <= 5 || length <= total / 5).toBe(true)
    }),
  )
})

test('the annotation names a number and a kind, and several of them', () => {
  expect(allowedOf('6 feeds, 12 apikeys', 'apikeys')).toBe(12)
  expect(allowedOf('6 feeds', 'feeds')).toBe(6)
  for (const text of [undefined, '', '12', 'all apikeys', '12 feed', '-1 apikeys'])
    expect(allowedOf(text, 'apikeys'), text).toBeUndefined()
})
