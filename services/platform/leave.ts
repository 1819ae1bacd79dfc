import { noticeMs } from '../core/drain.ts'
import type { Health } from './health.ts'
import type { ProcessContext } from './process-context.ts'

export interface Leaving {
  /** Ends in order, as slowly as others need to take over. May be called again. */
  stop(): Promise<void>
  /** From here on without waiting for anybody. */
  hurry(): void
}

/** Load balancers are sent elsewhere first, `empty` runs meanwhile, then everything stops. */
export function leaveThrough(
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

/** How long requests are still taken after a load balancer could see that there should be no more. */
export const noticeOf = ({ config }: ProcessContext): number =>
  Math.min(noticeMs, config.drainSeconds * 1_000)
