import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readSteps } from './read-steps.ts'

const step = 128 * 7 * 86_400

test.each(['newest', 'oldest', undefined] as const)(
  'the steps of a read from its end "%s" follow each other, cover the range and are at most 128 partitions before now',
  (end) => {
    const time = fc.integer({ min: 0, max: 20 * step })
    fc.assert(
      fc.property(time, time, time, (a, b, now) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const steps = [...readSteps({ from, to }, '1', end, now)]
        const ascending = end === 'newest' ? steps.toReversed() : steps
        expect([ascending[0]?.from, ascending.at(-1)?.to]).toEqual([from, to])
        ascending.forEach((each, i) => {
          if (i > 0) expect(each.from).toBe((ascending[i - 1]?.to ?? 0) + 1)
          expect(Math.min(each.to, now) - each.from).toBeLessThanOrEqual(step)
        })
      }),
    )
  },
)

test('a read of all times that stops at the newest bars begins with one statement over the newest years', () => {
  const now = 1_700_000_000
  const [first] = readSteps({ from: 0, to: 9_007_199_254 }, '1', 'newest', now)
  expect(first).toEqual({ from: now - step, to: 9_007_199_254 })
})
