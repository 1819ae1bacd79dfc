import type { RegistryView } from '../../core/registry/registry.ts'
import type { ClockHistory } from '../../wire/gen/fxd/v1/ClockHistory.ts'
import { feedRecordOf } from './feeds.ts'

/** A clock that changes its offset every few minutes must not make the answer too long. */
const readingsMax = 1_000

export function clockHistory({ feed }: { readonly feed: string }, view: RegistryView): ClockHistory {
  const { key, clock } = feedRecordOf(feed, view).definition
  const readings = view.clocksOf(key).slice(-readingsMax)
  return {
    mode: clock.mode,
    readings: readings.map(({ since, offsetSeconds, source, measuredAt }) => ({
      since,
      clockOffsetSeconds: offsetSeconds,
      source,
      ...(measuredAt !== undefined && { measuredAt }),
    })),
  }
}
