import { expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { simulate } from './run.ts'

/** The same in every run; `make soak` tries 5,000. */
const seedsInAll = 500 * effort
/** One of several files that share the seeds, so that they run side by side. */
export function describeSeeds(part: number, of: number): void {
  test(`promises 1 to 5 hold whatever fails, in seed ${part + 1} and every ${of}th after it`, async () => {
    let [faults, bars] = [0, 0]
    for (let i = part; i < seedsInAll; i += of) {
      const outcome = await simulate(i + 1)
      faults += outcome.faults
      bars += outcome.ackedBars
      expect(outcome.violations, `bin/node test/sim/replay.ts ${i + 1} tells the story`).toEqual([])
    }
    // A run in which nothing happens proves nothing.
    const seeds = Math.ceil((seedsInAll - part) / of)
    expect(faults).toBeGreaterThan(10 * seeds)
    expect(bars).toBeGreaterThan(10 * seeds)
  })
}
