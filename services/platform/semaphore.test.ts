import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Semaphore } from './semaphore.ts'

test('the weight inside stays within the limit, all enter in order, and cancelled waits are skipped', () => {
  const anyVisitor = fc.record({ units: fc.integer({ min: 1, max: 8 }), givesUp: fc.boolean() })
  fc.assert(
    fc.property(fc.array(anyVisitor), fc.integer({ min: 1, max: 10 }), (visitors, max) => {
      const semaphore = new Semaphore(max)
      const inside: { i: number; units: number }[] = []
      const entered: number[] = []
      const waits = (i: number): boolean => !entered.includes(i)
      const cancelled: number[] = []
      visitors.forEach(({ units, givesUp }, i) => {
        const cancel = semaphore.queue(units, () => {
          inside.push({ i, units })
          entered.push(i)
        })
        if (givesUp && waits(i)) {
          cancel()
          cancelled.push(i)
        }
        const total = inside.reduce((sum, each) => sum + each.units, 0)
        expect(total <= max || inside.length === 1).toBe(true)
      })
      for (let next = inside.shift(); next; next = inside.shift()) semaphore.leave(next.units)
      expect(entered).toEqual(visitors.map((_, i) => i).filter((i) => !cancelled.includes(i)))
    }),
  )
})

test('a call that finds the semaphore full enters once enough weight has left', async () => {
  const semaphore = new Semaphore(10)
  await semaphore.enter(6)
  let hasEntered = false
  const second = semaphore.enter(5).then(() => {
    hasEntered = true
  })
  await Promise.resolve()
  expect(hasEntered).toBe(false)
  semaphore.leave(6)
  await second
})

test('an abort rejects waiting and later calls with its reason, and cancels callbacks', async () => {
  const ending = new AbortController()
  const semaphore = new Semaphore(1, ending.signal)
  await semaphore.enter(1)
  const waiting = semaphore.enter(1)
  let hasEntered = false
  semaphore.queue(1, () => {
    hasEntered = true
  })
  const reason = new Error('the session ended')
  ending.abort(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(semaphore.enter(1)).rejects.toBe(reason)
  semaphore.leave(1)
  expect(hasEntered).toBe(false)
})
