import { Unavailable } from '../core/failure.ts'
import type { Clock } from '../ports/clock.ts'
import { Backoff } from './backoff.ts'
import type { Log } from './log/log.ts'

const delayMinMs = 250
const delayMaxMs = 5_000
const endedText = 'ended before its stores were there'

export class EndedWhileWaiting extends Error {}

export interface WaitingDeps {
  readonly clock: Clock
  readonly log: Log
  readonly ending?: AbortSignal | undefined
}

/** Retries `run` while it fails as `Unavailable`: a process that waits is better than one that restarts repeatedly. */
export async function untilAvailable<T>(run: () => Promise<T>, deps: WaitingDeps): Promise<T> {
  const { clock, log, ending } = deps
  const backoff = new Backoff(clock, { firstMs: delayMinMs, maxMs: delayMaxMs, jitter: 'none' })
  const { promise: ended, reject } = Promise.withResolvers<never>()
  // During a sleep this rejection has no handler.
  ended.catch(() => undefined)
  ending?.addEventListener('abort', () => reject(new EndedWhileWaiting(endedText)), { once: true })
  while (true) {
    if (ending?.aborted) throw new EndedWhileWaiting(endedText)
    try {
      // A store that accepts connections and does not answer must not delay the end.
      return await Promise.race([run(), ended])
    } catch (cause) {
      if (!(cause instanceof Unavailable)) throw cause
      const retryInMs = backoff.nextMs()
      log.warn({ err: cause, retryInMs }, 'store unavailable at the start; retrying')
      await clock.sleep(retryInMs, ending)
    }
  }
}
