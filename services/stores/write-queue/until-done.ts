import { Unavailable } from '../../core/failure.ts'
import { Backoff } from '../../platform/backoff.ts'
import type { Clock } from '../../ports/clock.ts'

/** Pauses before what failed is tried again. */
export const retryPauses = { firstMs: 100, maxMs: 2_000, jitter: 'none' } as const

interface UntilDoneOptions {
  readonly clock: Clock
  /** Whether the store closes: then nothing is tried again. */
  readonly isClosed: () => boolean
  readonly signal?: AbortSignal | undefined
  readonly onFailed?: (cause: Unavailable) => void
}

/** Repeats `run` while it fails as `Unavailable`. Rejects with any other failure, and when the signal aborts. */
export async function untilDone<T>(run: () => Promise<T>, options: UntilDoneOptions): Promise<T> {
  const { clock, isClosed, signal, onFailed } = options
  const retries = new Backoff(clock, retryPauses)
  while (true) {
    signal?.throwIfAborted()
    try {
      return await run()
    } catch (cause) {
      if (!(cause instanceof Unavailable) || isClosed()) throw cause
      onFailed?.(cause)
      await clock.sleep(retries.nextMs(), signal)
    }
  }
}
