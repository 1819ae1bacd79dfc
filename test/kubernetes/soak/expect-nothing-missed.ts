import { expect } from 'vitest'
import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from '../installed/under-load.ts'

export const recoveryMs = 300_000

/**
 * Expects after an unplanned failure that pushed bars and history together are complete, and that history has every
 * acknowledged bar. Prints the counts.
 */
export async function expectNothingMissed({ traffic }: UnderLoad, what: string): Promise<void> {
  await traffic.caughtUp()
  expect(traffic.checkUnplanned()).toEqual([])
  // The newest acknowledged bars may not be visible yet.
  await expect.poll(() => traffic.checkHistory(), { timeout: recoveryMs, interval: 1_000 }).toEqual([])
  console.log(`${what}: ${traffic.summary()}`)
}

/**
 * Expects after planned removals that pushed bars alone are complete, sockets were closed only with 1012, and no
 * request failed. Prints the counts.
 */
export async function expectNoViolation({ traffic }: UnderLoad, what: string): Promise<void> {
  await traffic.caughtUp()
  expect(traffic.checkPlanned()).toEqual([])
  console.log(`${what}: 0 bars missed, ${traffic.summary()}`)
}

/** Resolves once this many more minutes of the feed were sent. */
export function flows({ traffic }: UnderLoad, minutes: number): Promise<void> {
  const until = traffic.minutes + minutes
  return within(recoveryMs, 'bars to flow', () => traffic.minutes >= until)
}
