import { expect } from 'vitest'
import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from '../cluster/under-load.ts'

export const recoveryMs = 300_000

/**
 * After a failure that nobody planned: what sockets were sent and what history fills is everything, and history has all that
 * was acknowledged. Prints the counts.
 */
export async function expectNothingMissed({ traffic }: UnderLoad, what: string): Promise<void> {
  await traffic.caughtUp()
  expect(traffic.judgeUnplanned()).toEqual([])
  // What was acknowledged a moment ago may not show yet.
  await expect.poll(() => traffic.judgeHistory(), { timeout: recoveryMs, interval: 1_000 }).toEqual([])
  console.log(`${what}: ${traffic.summary()}`)
}

/** Resolves once so many more minutes of the feed were sent. */
export function flows({ traffic }: UnderLoad, minutes: number): Promise<void> {
  const until = traffic.minutes + minutes
  return within(recoveryMs, 'bars to flow', () => traffic.minutes >= until)
}
