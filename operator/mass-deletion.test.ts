import fc from 'fast-check'
import { expect, test } from 'vitest'
import { allowedOf, MassDeletion, withoutKind } from './mass-deletion.ts'

const things = (count: number): string[] => Array.from({ length: count }, (_, i) => `${i}`)
const goingOf = (gone: number, total: number, allowed?: number): number =>
  new MassDeletion().decide(things(gone), { total, allowed, nowMs: 0 }).removable.size

test('up to five items, or up to a fifth of all, may be removed', () => {
  expect(goingOf(5, 5)).toBe(5)
  expect(goingOf(6, 30)).toBe(6)
  expect(goingOf(6, 29)).toBe(0)
})

test('more are removed only with a permission for exactly their number', () => {
  expect(goingOf(12, 12, 12)).toBe(12)
  for (const allowed of [11, 13, 0]) expect(goingOf(12, 12, allowed)).toBe(0)
})

test('when 200 items lose their objects one by one, at most a fifth is removed within half an hour', () => {
  const guard = new MassDeletion()
  let left = things(200)
  const gone: string[] = []
  for (let nowMs = 0; left.length > gone.length; nowMs += 1_000) {
    gone.push(left[gone.length] ?? '')
    const { removable } = guard.decide(gone, { total: left.length, allowed: undefined, nowMs })
    for (const id of removable) guard.removed(id, nowMs)
    left = left.filter((id) => !removable.has(id))
    for (const id of removable) gone.splice(gone.indexOf(id), 1)
  }
  expect(left).toHaveLength(160)
  const { removable } = guard.decide(['a'], { total: 160, allowed: undefined, nowMs: 200_000 + 1_800_000 })
  expect(removable).toEqual(new Set(['a']))
})

test('a permission stays valid for its remaining items after a part was removed, and for no others', () => {
  const guard = new MassDeletion()
  expect(guard.decide(things(12), { total: 12, allowed: 12, nowMs: 0 }).isUsed).toBe(true)
  guard.removed('0', 0)
  const later = [...things(12).slice(1), ...things(22).slice(12)]
  const { removable, isUsed } = guard.decide(later, { total: 22, allowed: undefined, nowMs: 1 })
  expect([removable, isUsed]).toEqual([new Set(things(12).slice(1)), false])
})

test('without permission at most five items or a fifth of all are removed, whichever is more', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.nat(200), (gone, others) => {
      const total = gone + others
      const length = goingOf(gone, total)
      expect(length === 0 || length === gone).toBe(true)
      expect(length <= 5 || length <= total / 5).toBe(true)
    }),
  )
})

test('the annotation has one or more pairs of a number and a kind', () => {
  expect(allowedOf('6 feeds, 12 apikeys', 'apikeys')).toBe(12)
  expect(allowedOf('6 feeds', 'feeds')).toBe(6)
  for (const text of [undefined, '', '12', 'all apikeys', '12 feed', '-1 apikeys'])
    expect(allowedOf(text, 'apikeys'), text).toBeUndefined()
})

test('withoutKind removes the part of one kind from the annotation', () => {
  expect(withoutKind('6 feeds, 12 apikeys', 'feeds')).toBe('12 apikeys')
  expect(withoutKind('6 feeds', 'feeds')).toBeUndefined()
})
