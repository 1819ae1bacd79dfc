import type { Clock } from '../ports/clock.ts'

const beatMs = 200
/** An event loop that stands still for so long keeps its promises to nobody. */
export const stallMs = 1_000
/** A process that just stood still is left alone for a moment, or traffic returns into the same stall. */
export const recoveryMs = 3_000

export interface LoopWatch {
  stalled(): boolean
  stop(): void
}

/** Notices when the event loop stood still, by the lateness of its own beat. */
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
      // After a stall a waiting request may be served before the beat is.
      look()
      return clock.monotonicMs() < wellAgainAt
    },
    stop,
  }
}
