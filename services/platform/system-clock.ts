import { randomBytes } from 'node:crypto'
import { utcMs } from '../core/clocks/feed-clock.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

export type { Cancel, Clock } from '../ports/clock.ts'

/** The clock of the machine. No other file may read time or randomness. */
export const systemClock: Clock = {
  utcMs: () => utcMs(Date.now()),
  monotonicMs: () => performance.now(),
  after(delayMs, run): Cancel {
    const timer = setTimeout(run, delayMs).unref()
    return () => clearTimeout(timer)
  },
  every(periodMs, run): Cancel {
    const timer = setInterval(run, periodMs).unref()
    return () => clearInterval(timer)
  },
  soon: (run) => void setImmediate(run),
  sleep: (delayMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      // Not unref'ed: a caller awaits it.
      const timer = setTimeout(done, delayMs)
      signal?.addEventListener('abort', done)
    }),
  random: Math.random,
  randomHex: (bytes) => randomBytes(bytes).toString('hex'),
}
