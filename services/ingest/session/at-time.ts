import type { UtcMs } from '../../core/clocks/feed-clock.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

/** Timers hold no more than 24 days, and the wall clock may be set. */
const lookAgainMs = 3_600_000

/** Runs once at that moment, never inside this call. */
export function atTime(moment: UtcMs, clock: Clock, run: () => void): Cancel {
  let cancel: Cancel
  const look = (): void => {
    const leftMs = moment - clock.utcMs()
    if (leftMs <= 0) run()
    else arm(leftMs)
  }
  const arm = (leftMs: number): void => {
    cancel = clock.after(Math.min(Math.max(leftMs, 0), lookAgainMs), look)
  }
  arm(moment - clock.utcMs())
  return () => cancel()
}
