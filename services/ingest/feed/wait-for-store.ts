import { Unavailable } from '../../core/failure.ts'
import { Backoff, reconnectMaxMs } from '../../platform/backoff.ts'
import type { Clock } from '../../ports/clock.ts'

export interface Waiting {
  readonly clock: Clock
  /** Aborts when nobody needs the answer any more. */
  readonly signal: AbortSignal
}

/** Repeats the call while the store is unavailable or overloaded. Rejects with any other error, and when the signal aborts. */
export async function waitForStore<T>(call: () => Promise<T>, { clock, signal }: Waiting): Promise<T> {
  const backoff = new Backoff(clock, { maxMs: reconnectMaxMs })
  for (;;) {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (cause) {
      if (!(cause instanceof Unavailable)) throw cause
    }
    await clock.sleep(backoff.nextMs(), signal)
  }
}
