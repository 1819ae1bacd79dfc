import type { UtcMs } from '../core/clocks/feed-clock.ts'

/** Ends a timer; calling it twice is harmless. */
export type Cancel = () => void

/**
 * Wall clock, timers and randomness. They enter the house only here, which is what makes a seeded
 * simulation of all roles on a virtual clock possible.
 * Contract: `monotonicMs` never goes back; a callback never runs inside the call that armed it;
 * timers do not keep the process alive by themselves.
 */
export interface Clock {
  utcMs(): UtcMs
  /** Milliseconds since some start, with fractions. */
  monotonicMs(): number
  after(delayMs: number, run: () => void): Cancel
  every(periodMs: number, run: () => void): Cancel
  /** A later turn of the event loop. */
  soon(run: () => void): void
  /** Resolves after the delay, or early (without an error) when the signal aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
  /** `[0, 1)` */
  random(): number
  /** Cryptographic randomness, lower-case hex of `bytes` bytes. */
  randomHex(bytes: number): string
}
