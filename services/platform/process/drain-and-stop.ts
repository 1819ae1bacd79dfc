import { noticeMs } from '../../core/drain.ts'
import type { Health } from './health.ts'
import type { ProcessContext } from './process-context.ts'

export interface Leaving {
  /** Drains, then stops all parts. Resolves when the process has stopped. May be called again. */
  stop(): Promise<void>
  /** Skips the rest of the drain and stops at once. */
  hurry(): void
}

/** Makes the process not ready, runs `empty`, then stops all parts. `hurried` ends `empty` early. */
export function drainAndStop(
  { lifecycle }: ProcessContext,
  health: Health,
  empty: (hurried: AbortSignal) => Promise<unknown>,
): Leaving {
  const hurried = new AbortController()
  let stopping: Promise<void> | undefined
  const leave = async (): Promise<void> => {
    health.drain()
    await empty(hurried.signal)
    await lifecycle.stop()
  }
  return {
    stop: () => (stopping ??= leave()),
    hurry: () => hurried.abort(),
  }
}

/** Milliseconds for which a process that is not ready still accepts requests: load balancers see it late. */
export const noticeMsOf = ({ config }: ProcessContext): number =>
  Math.min(noticeMs, config.drainSeconds * 1_000)
