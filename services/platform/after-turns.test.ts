import { expect, test } from 'vitest'
import { afterTurns, turnsBetween } from './after-turns.ts'
import { systemClock } from './system-clock.ts'

/** Turns of the event loop until the work runs, if each takes `ms`. */
async function turnsUntilRun(ms: number): Promise<number> {
  let turns = 0
  const clock = { ...systemClock, monotonicMs: () => turns * ms }
  let hasRun = false
  afterTurns(clock, () => (hasRun = true))
  while (!hasRun) {
    turns += 1
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  return turns
}

test('work runs after 16 turns of the event loop, or earlier if the turns take more than a millisecond', async () => {
  expect(await turnsUntilRun(0)).toBe(turnsBetween)
  expect(await turnsUntilRun(0.5)).toBe(2)
  expect(await turnsUntilRun(5)).toBe(1)
})
