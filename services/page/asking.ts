import { asFxdError, type FxdError } from '../../clients/typescript/src/error.ts'
import { sleep } from '../../clients/typescript/src/pause.ts'
import type { App } from './app.ts'
import { say } from './elements.ts'
import { failureText, slowText } from './texts/failures.ts'

const slowMs = 3_000
const againMs = 5_000

export interface Asking {
  readonly signal: AbortSignal
  /** Shows a sentence about the request; empty: all is well. */
  readonly note: (text: string) => void
  /** Whether the failure was handled, such as one of the key. */
  readonly refused: (error: FxdError) => boolean
}

/** Says in `place` what happens to the requests of a view. */
export const askingIn = (place: HTMLElement, app: App, signal: AbortSignal): Asking => ({
  signal,
  note: (text) => say(place, text),
  refused: (error) => app.refused(error),
})

/** Asks until there is an answer, and says what happens meanwhile. `undefined`: the request failed for good, or was aborted. */
export async function askPatiently<T>(
  ask: () => Promise<T>,
  { signal, note, refused }: Asking,
): Promise<T | undefined> {
  while (!signal.aborted) {
    const waiting = new AbortController()
    void sleep(slowMs, AbortSignal.any([signal, waiting.signal])).then(() => {
      if (!signal.aborted && !waiting.signal.aborted) note(slowText)
    })
    try {
      const answer = await ask()
      waiting.abort()
      if (signal.aborted) return undefined
      note('')
      return answer
    } catch (cause) {
      waiting.abort()
      if (signal.aborted) return undefined
      const error = asFxdError(cause)
      if (refused(error)) return undefined
      note(failureText(error))
      if (!error.mayPass) return undefined
      await sleep((error.retryAfter ?? 0) * 1_000 || againMs, signal)
    }
  }
  return undefined
}
