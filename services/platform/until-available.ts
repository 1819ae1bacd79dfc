import { Unavailable } from '../core/failure.ts'
import type { Clock } from '../ports/clock.ts'
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
  for (let delayMs = delayMinMs; ; delayMs = Math.min(delayMaxMs, delayMs * 2)) {
    if (ending?.aborted) throw new EndedWhileWaiting('ended before its stores were there')
    try {
      return await run()
    } catch (cause) {
      if (!(cause instanceof Unavailable)) throw cause
      log.warn({ err: cause, retryInMs: delayMs }, 'a store is away; the start waits for it')
    }
    await clock.sleep(delayMs, ending)
  }
}
