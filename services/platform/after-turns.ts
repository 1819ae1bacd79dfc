import type { Clock } from '../ports/clock.ts'

/**
 * Turns of the event loop between two long pieces of work. Node accepts one connection a turn; without them each new
 * client waits for one piece per earlier connection. An empty turn takes some microseconds.
 */
export const turnsBetween = 16
/** Maximum time for these turns: they may have other work. */
const turnsMsMax = 1

/** Calls `run` after `turnsBetween` turns of the event loop, or in the first one after `turnsMsMax`. */
export function afterTurns(clock: Clock, run: () => void): void {
  const endMs = clock.monotonicMs() + turnsMsMax
  let left = turnsBetween
  const turn = (): void => {
    left -= 1
    if (left > 0 && clock.monotonicMs() < endMs) clock.soon(turn)
    else run()
  }
  clock.soon(turn)
}
