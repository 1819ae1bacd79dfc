import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { checkCoverage } from '../checks/check-coverage.ts'
import { checkFold, checkHistory } from '../checks/check-history.ts'
import type { Feeder } from './feeder.ts'
import type { FxdProcess } from './fxd-process.ts'
import type { Market } from './market.ts'
import { readHistory } from './read-history.ts'

/** Maximum complaints that are returned. */
const complaintsMax = 20
/** Deadline of `flows`, long enough for a busy machine. */
const flowMsMax = 150_000

/**
 * Stops the feeders and compares the history of every process with what was sent, before and after a restart:
 * without a restart, bars in memory might hide what the store lost. Returns what is wrong, a sentence each.
 */
export async function complaintsAtRest(
  feeders: readonly Feeder[],
  market: Market,
  processes: readonly FxdProcess[],
): Promise<string[]> {
  await Promise.all(feeders.map((feeder) => feeder.stop()))
  const readings = feeders.flatMap((feeder) => feeder.readings)
  const unanswered = readings.filter(({ acked }) => !acked).length
  const complaints = [
    ...(readings.length === 0 ? ['nothing was sent'] : []),
    ...(unanswered > 0 ? [`${unanswered} readings were never acknowledged`] : []),
  ]
  const claimed = new Set(feeders.flatMap(({ ackedMinutes }) => [...ackedMinutes]))
  const check = async (when: string): Promise<void> => {
    for (const fxd of processes) {
      const minutes = await readHistory(fxd, market, '1')
      const found = [
        ...checkHistory(readings, minutes),
        ...checkFold(minutes, await readHistory(fxd, market, '30')),
        ...(await checkCoverage(fxd, market, claimed)),
      ]
      complaints.push(...found.map((complaint) => `${when}: ${complaint}`))
    }
  }
  await check('at rest')
  for (const fxd of processes) {
    await fxd.kill()
    await fxd.start()
  }
  await check('after a restart')
  return complaints.slice(0, complaintsMax)
}

/** Fails when anything is wrong at rest. */
export async function expectNothingLost(
  feeders: readonly Feeder[],
  market: Market,
  processes: readonly FxdProcess[],
  hint = '',
): Promise<void> {
  expect(await complaintsAtRest(feeders, market, processes), hint).toEqual([])
}

/** Resolves once each feeder has `batches` more acknowledged; rejects after 150 s or on a fault. */
export async function flows(feeders: readonly Feeder[], batches: number): Promise<void> {
  const begun = performance.now()
  const wanted = feeders.map(({ ackedBatches }) => ackedBatches + batches)
  while (feeders.some(({ ackedBatches }, i) => ackedBatches < (wanted[i] ?? 0))) {
    for (const { fault } of feeders) if (fault !== undefined) throw fault
    if (performance.now() - begun > flowMsMax)
      throw new Error(
        `${batches} more batches were not acknowledged within ${flowMsMax} ms; sessions ended by ` +
          feeders.map(({ broken, brokenBy }) => `${brokenBy} (${broken} in all)`).join(' and '),
      )
    await pause(20)
  }
}
