import type { Clock } from '../ports/clock.ts'

const beatMs = 200
/** Minimum stall of the event loop that makes the process unready. */
export const stallMs = 1_000
/** How long the process stays unready after a stall; otherwise traffic returns into the same stall. */
export const recoveryMs = 3_000

export interface LoopWatch {
  stalled(): boolean
  stop(): void
}

/** Detects stalls of the event loop by the lateness of a periodic timer. */
export function watchLoop(clock: Clock): LoopWatch {
  let lastBeat = clock.monotonicMs()
  let wellAgainAt = Number.NEGATIVE_INFINITY
  const look = (): void => {
    const now = clock.monotonicMs()
    if (now - lastBeat >= stallMs) wellAgainAt = now + recoveryMs
    lastBeat = now
  }
  const stop = clock.every(beatMs, look)
  return {
    stalled() {
      // After a stall a waiting request may be served before the timer runs.
      look()
      return clock.monotonicMs() < wellAgainAt
    },
    stop,
  }
}
