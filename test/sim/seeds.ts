import { expect, test } from 'vitest'
import { effort } from '../support/effort.ts'
import { simulate } from './run.ts'

/** Number of seeds, the same seeds in every run; 5,000 in `make soak`. */
const seedsInAll = 500 * effort
/** Tests every `of`th seed from `part` on. Several files share the seeds, so that they run in parallel. */
export function describeSeeds(part: number, of: number): void {
  test(`promises 1 to 5 hold under random faults for seed ${part + 1} and every ${of}th seed after it`, async () => {
    let [faults, bars] = [0, 0]
    for (let i = part; i < seedsInAll; i += of) {
      const outcome = await simulate(i + 1)
      faults += outcome.faults
      bars += outcome.ackedBars
      expect(outcome.violations, `bin/node test/sim/replay.ts ${i + 1} prints the event log`).toEqual([])
    }
    // Runs without faults or bars would prove nothing.
    const seeds = Math.ceil((seedsInAll - part) / of)
    expect(faults).toBeGreaterThan(10 * seeds)
    expect(bars).toBeGreaterThan(10 * seeds)
  })
}
