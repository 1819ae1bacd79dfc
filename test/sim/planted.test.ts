import { describe, expect, test } from 'vitest'
import { type Defect, defects } from './defects.ts'
import { simulate } from './run.ts'

/** Maximum seeds for each defect; one or two of a hundred seeds show the rarest defect. */
const seedsMax = 300

describe('the simulation itself', () => {
  test.each([1, 2, 3])('two runs with seed %i send the same messages at the same times', async (seed) => {
    const [once, again] = [await simulate(seed), await simulate(seed)]
    expect(again.trace).toBe(once.trace)
    expect(again.events).toBe(once.events)
  })

  test('runs with different seeds send different messages', async () => {
    expect((await simulate(1)).trace).not.toBe((await simulate(2)).trace)
  })

  test.each(Object.entries(defects))('finds the planted defect %s: %s', async (defect) => {
    for (let seed = 1; seed <= seedsMax; seed++) {
      const { violations } = await simulate(seed, defect as Defect)
      if (violations.length > 0) return
    }
    expect.unreachable(`${defect} was not found with ${seedsMax} seeds`)
  })
})
