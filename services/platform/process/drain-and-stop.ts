import { noticeMs } from '../../core/drain.ts'
import type { Health } from './health.ts'
import type { ProcessContext } from './process-context.ts'

export interface Stoppable {
  /** Drains, then stops all parts. Resolves when the process has stopped. May be called again. */
  stop(): Promise<void>
  /** Ends the drain, the one under way or the next one, so that the stop follows immediately. */
  skipDrain(): void
}

/** Makes the process not ready, runs `drain`, then stops all parts. `skipped` is aborted to end `drain` early. */
export function drainAndStop(
  { lifecycle }: ProcessContext,
  health: Health,
  drain: (skipped: AbortSignal) => Promise<unknown>,
): Stoppable {
  const skipped = new AbortController()
  let stopping: Promise<void> | undefined
  const drainThenStop = async (): Promise<void> => {
    health.drain()
    await drain(skipped.signal)
    await lifecycle.stop()
  }
  return {
    stop: () => (stopping ??= drainThenStop()),
    skipDrain: () => skipped.abort(),
  }
}

/** Milliseconds for which a process that is not ready still accepts requests: load balancers see it late. */
export const noticeMsOf = ({ config }: ProcessContext): number =>
  Math.min(noticeMs, config.drainSeconds * 1_000)
