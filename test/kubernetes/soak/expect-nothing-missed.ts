import { expect } from 'vitest'
import { within } from '../../faults/support/within.ts'
import type { UnderLoad } from '../installed/under-load.ts'

export const recoveryMs = 300_000
const opsPort = 9464
const answerDeadlineMs = 5_000
const lossMetrics =
  /^fxd_(stream_gaps|stream_replay_gaps|stream_bus_losses|stream_refill_failures|bus_losses|tail_dropped_bars)_total.*$/gm

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
export async function expectNoViolation(loaded: UnderLoad, what: string): Promise<void> {
  const { traffic } = loaded
  await traffic.caughtUp()
  const violations = traffic.checkPlanned()
  expect(violations.length === 0 ? [] : [...violations, ...(await lossesOfShards(loaded))]).toEqual([])
  console.log(`${what}: 0 bars missed, ${traffic.summary()}`)
}

/** What the running shards and the bus lost, as their metrics show it. Never rejects: the violations must be shown. */
async function lossesOfShards({ kubectl }: UnderLoad): Promise<readonly string[]> {
  const path = '-o=jsonpath={.items[*].status.podIP}'
  const addresses = await kubectl('get', 'pods', '-l=marketdata.fxd.dev/streampool', path).catch(() => '')
  const shown = addresses.split(' ').map(async (address) => {
    const signal = AbortSignal.timeout(answerDeadlineMs)
    const text = await (await fetch(`http://${address}:${opsPort}/metrics`, { signal })).text()
    const lines = text.match(lossMetrics) ?? []
    return lines.map((line) => `${address}: ${line}`)
  })
  const all = await Promise.allSettled(shown)
  return all.flatMap((each) => (each.status === 'fulfilled' ? each.value : [String(each.reason)]))
}

/** Resolves once this many more minutes of the feed were sent. */
export function flows({ traffic }: UnderLoad, minutes: number): Promise<void> {
  const until = traffic.minutes + minutes
  return within(recoveryMs, 'bars to flow', () => traffic.minutes >= until)
}
