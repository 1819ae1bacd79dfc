import { expect } from 'vitest'
import { checkFold, checkHistory } from './check-history.ts'
import type { Feeder } from './feeder.ts'
import type { FxdProcess } from './fxd-process.ts'
import type { Market } from './market.ts'
import { readHistory } from './read-history.ts'

/** What is wrong with what these processes show once nothing flows any more; not more than a reader wants. */
async function complaintsOf(feeders: readonly Feeder[], market: Market, from: readonly FxdProcess[]) {
  const complaints: string[] = []
  const readings = feeders.flatMap((feeder) => feeder.readings)
  for (const fxd of from) {
    const minutes = await readHistory(fxd, market, '1')
    complaints.push(...checkHistory(readings, minutes))
    complaints.push(...checkFold(minutes, await readHistory(fxd, market, '30')))
  }
  return complaints.slice(0, 20)
}

/**
 * Stops the feeders and holds what every process shows against what was sent, before and after a new
 * start: until then its memory might stand in for a bar that the store lost.
 */
export async function expectNothingLost(
  feeders: readonly Feeder[],
  market: Market,
  processes: readonly FxdProcess[],
  hint = '',
): Promise<void> {
  await Promise.all(feeders.map((feeder) => feeder.stop()))
  const readings = feeders.flatMap((feeder) => feeder.readings)
  expect(readings.length, hint).toBeGreaterThan(0)
  expect(readings.filter(({ acked }) => !acked).length, hint).toBe(0)
  expect(await complaintsOf(feeders, market, processes), hint).toEqual([])
  for (const fxd of processes) {
    await fxd.kill()
    await fxd.start()
  }
  expect(await complaintsOf(feeders, market, processes), `${hint}, after a new start`).toEqual([])
}

/** Resolves once so much more was acknowledged of each. */
export async function flows(feeders: readonly Feeder[], batches: number, timeoutMs = 150_000): Promise<void> {
  const before = feeders.map(({ ackedBatches }) => ackedBatches)
  await expect
    .poll(() => feeders.every(({ ackedBatches }, i) => ackedBatches >= (before[i] ?? 0) + batches), {
      timeout: timeoutMs,
      interval: 20,
      message: `${batches} more batches acknowledged`,
    })
    .toBe(true)
}
