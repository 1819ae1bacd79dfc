import { minuteMs } from '../../core/clocks/calendar.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

/** Ten seconds leave time for the collection, and little new garbage before the minute ends. */
const collectedAtMs = 50_000

/** Without this, V8 collects the garbage of a quiet minute while the bars of its end pass (docs/decisions/whole.md). */
export function collectBeforeMinuteEnd(clock: Clock, collect: () => void): Cancel {
  const next = (): Cancel => {
    const sinceLastMs = (clock.utcMs() - collectedAtMs) % minuteMs
    return clock.after(minuteMs - sinceLastMs, () => {
      collect()
      cancel = next()
    })
  }
  let cancel = next()
  return () => cancel()
}

/** Collects V8's young generation; without the flag `--expose-gc` it does nothing. */
export function collectYoung(): void {
  globalThis.gc?.({ type: 'minor', execution: 'sync' })
}
