import type { UtcMs } from '../core/clocks/feed-clock.ts'

/** Ends a timer; a second call has no effect. */
export type Cancel = () => void

/**
 * Wall clock, timers and randomness. All code gets them from here, so that a seeded simulation can run all
 * roles on a virtual clock. Contract: `monotonicMs` never decreases; a callback never runs inside the call that
 * set it; a pending `sleep` keeps the process running, timers of `after` and `every` do not.
 */
export interface Clock {
  utcMs(): UtcMs
  /** Milliseconds since a fixed start, with fractions. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): Cancel
  every(periodMs: number, run: () => void): Cancel
  /** Calls `run` in a later turn of the event loop. */
  soon(run: () => void): void
  /** Resolves after the delay, or earlier (without an error) when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
  /** A random number from 0 (inclusive) to 1 (exclusive). */
  random(): number
  /** Cryptographic randomness: `bytes` bytes as lower-case hex. */
  randomHex(bytes: number): string
}
