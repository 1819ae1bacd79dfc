import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReadSlots } from './read-slots.ts'

test('never more than the bound is inside, all get in by their turn, and who leaves the line is passed over', () => {
  const anyVisitor = fc.record({ units: fc.integer({ min: 1, max: 8 }), givesUp: fc.boolean() })
  fc.assert(
    fc.property(fc.array(anyVisitor), fc.integer({ min: 1, max: 10 }), (visitors, max) => {
      const slots = new ReadSlots(max)
      const inside: { i: number; units: number }[] = []
      const entered: number[] = []
      const waits = (i: number): boolean => !entered.includes(i)
      const wentAway: number[] = []
      visitors.forEach(({ units, givesUp }, i) => {
        const leaveLine = slots.queue(units, () => {
          inside.push({ i, units })
          entered.push(i)
        })
        if (givesUp && waits(i)) {
          leaveLine()
          wentAway.push(i)
        }
        const total = inside.reduce((sum, each) => sum + each.units, 0)
        expect(total <= max || inside.length === 1).toBe(true)
      })
      for (let next = inside.shift(); next; next = inside.shift()) slots.leave(next.units)
      expect(entered).toEqual(visitors.map((_, i) => i).filter((i) => !wentAway.includes(i)))
    }),
  )
})
