import { noticeMs } from '../../core/drain.ts'
import type { Health } from './health.ts'
import type { ProcessContext } from './process-context.ts'

export interface Leaving {
  /** Ends in order, slowly enough that other processes take over. May be called again. */
  stop(): Promise<void>
  /** Skips the rest of the drain and stops at once. */
  hurry(): void
}

/** Becomes unready for load balancers, runs `empty` meanwhile, then stops everything. */
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

/** How long requests are still accepted after load balancers could see that the process is not ready. */
export const noticeMsOf = ({ config }: ProcessContext): number =>
  Math.min(noticeMs, config.drainSeconds * 1_000)
