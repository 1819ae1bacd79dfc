import { setTimeout as pause } from 'node:timers/promises'
import type { RunningService } from '../../support/processes/service-process.ts'
import { metricOf, residentMb } from './bench-feed.ts'

const deadlineMs = 600_000
const quietMs = 8_000
/** Maximum bars between two readings without seeding: the live bars of a minute. */
const liveBarsMost = 500

/** Resolves when the history of the demo feeds, which is stored after the start, is complete. */
export async function seeded(
  service: RunningService,
): Promise<{ bars: number; tookMs: number; peakMb: number }> {
  const begun = performance.now()
  let [bars, grewAt, peakMb] = [0, begun, 0]
  while (performance.now() - grewAt < quietMs && performance.now() - begun < deadlineMs) {
    await pause(500)
    peakMb = Math.max(peakMb, await residentMb(service))
    const now = await metricOf(service, 'fxd_ingest_bars_total')
    if (now - bars > liveBarsMost) grewAt = performance.now()
    bars = now
  }
  return { bars, tookMs: grewAt - begun, peakMb }
}
