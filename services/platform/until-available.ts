import { Unavailable } from '../core/failure.ts'
import type { Clock } from '../ports/clock.ts'
import { Backoff } from './backoff.ts'
import type { Log } from './log/log.ts'

const delayMinMs = 250
const delayMaxMs = 5_000

/** The process was asked to end while it waited. */
export class EndedWhileWaiting extends Error {}

export interface WaitingDeps {
  readonly clock: Clock
  readonly log: Log
  readonly ending?: AbortSignal | undefined
}

/**
 * What `run` gives, tried again for as long as it fails as `Unavailable`: a process that waits is worth
 * more than one that is started again and again. Any other failure is passed on.
 */
export async function untilAvailable<T>(run: () => Promise<T>, deps: WaitingDeps): Promise<T> {
  const { clock, log, ending } = deps
  const backoff = new Backoff(clock, { firstMs: delayMinMs, maxMs: delayMaxMs, jitter: 'none' })
  while (true) {
    if (ending?.aborted) throw new EndedWhileWaiting('ended before its stores were there')
    try {
      return await run()
    } catch (cause) {
      if (!(cause instanceof Unavailable)) throw cause
      const retryInMs = backoff.nextMs()
      log.warn({ err: cause, retryInMs }, 'a store is away; the start waits for it')
      await clock.sleep(retryInMs, ending)
    }
  }
}
