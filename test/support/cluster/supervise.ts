import { setTimeout as pause } from 'node:timers/promises'
import { Backoff } from '../../../services/platform/backoff.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'

/** Minimum run time of a process after which the pause before its restart is short again. */
const stableMs = 60_000

export interface Supervised {
  readonly name: string
  readonly pid: number
  /** Resolves at the end of the present process with its exit code or signal. */
  readonly ended: Promise<number | string>
  /** Starts it again; resolves once it is ready, rejects if it does not become ready. */
  start(): Promise<void>
}

export interface Supervision {
  readonly say: (sentence: string) => void
  /** Ends the supervision: processes that end afterwards are not restarted. */
  readonly signal: AbortSignal
}

/**
 * Restarts each process that ends, without a limit, after a pause that grows to 30 s. Resolves after the signal, once
 * no start is in progress. The caller ends the running processes.
 */
export async function supervise(
  processes: readonly Supervised[],
  { say, signal }: Supervision,
): Promise<void> {
  const aborted = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  )
  const superviseOne = async (process: Supervised): Promise<void> => {
    const backoff = new Backoff(systemClock)
    for (;;) {
      const begunMs = Date.now()
      const outcome = await Promise.race([process.ended, aborted])
      if (outcome === undefined || signal.aborted) return
      if (Date.now() - begunMs >= stableMs) backoff.reset()
      const waitMs = backoff.nextMs()
      say(`${process.name} ended with ${howEnded(outcome)}; restarting in ${(waitMs / 1_000).toFixed(1)} s`)
      await Promise.race([pause(waitMs, undefined, { ref: false }), aborted])
      if (signal.aborted) return
      await process.start().then(
        () => say(`${process.name} restarted as process ${process.pid}`),
        (cause: Error) => say(`restart failed: ${cause.message.split('\n')[0]}`),
      )
    }
  }
  await Promise.all(processes.map(superviseOne))
}

const howEnded = (outcome: number | string): string =>
  typeof outcome === 'number' ? `exit code ${outcome}` : `signal ${outcome}`
