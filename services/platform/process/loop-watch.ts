import type { Clock } from '../../ports/clock.ts'

const periodMs = 200
/** Minimum stall of the event loop that makes the process unready. */
export const stallMs = 1_000
/** How long the process stays unready after a stall; otherwise traffic returns into the same stall. */
export const recoveryMs = 3_000

/** Detects stalls of the event loop by the lateness of a periodic timer. */
export function watchLoop(clock: Clock) {
  let lastTickMs = clock.monotonicMs()
  let recoveredAtMs = Number.NEGATIVE_INFINITY
  const check = (): void => {
    const now = clock.monotonicMs()
    if (now - lastTickMs >= stallMs) recoveredAtMs = now + recoveryMs
    lastTickMs = now
  }
  const stop = clock.every(periodMs, check)
  return {
    stalled() {
      // After a stall a waiting request may be served before the timer runs.
      check()
      return clock.monotonicMs() < recoveredAtMs
    },
    stop,
  }
}
