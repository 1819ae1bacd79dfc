import { setTimeout as pause } from 'node:timers/promises'
import { Backoff } from '../../../services/platform/backoff.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'

/** After a life of this length the next restart waits only a short time again. */
const stableMs = 60_000

export interface Supervised {
  readonly name: string
  readonly pid: number
  /** Resolves when its present life ends, with the exit code or the signal. */
  readonly ended: Promise<number | string>
  /** Begins its next life; resolves once it works, rejects when it does not. */
  start(): Promise<void>
}

export interface Supervision {
  readonly say: (sentence: string) => void
  /** Ends the supervision: whatever ends from then on stays ended. */
  readonly signal: AbortSignal
}

/**
 * Restarts each process that ends, however often, after a pause that grows to 30 s. Resolves after the signal,
 * once no start is under way; the processes that run then are the caller's to end.
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
