import type { FxdError } from '../../clients/typescript/src/error.ts'
import { Fxd } from '../../clients/typescript/src/fxd.ts'
import { sleep } from '../../clients/typescript/src/pause.ts'
import { Rest } from '../../clients/typescript/src/rest.ts'
import type { Status } from '../../clients/typescript/src/types.ts'
import type { App } from './app.ts'
import { askPatiently } from './asking.ts'
import { failureText, isOfKey } from './texts/failures.ts'

/** A day of it is 1,440 of the 10,000 requests of the smallest plan. */
const statusEveryMs = 60_000

interface Events {
  note(text: string): void
  /** The key is good, and the first status is there. */
  ready(): void
  /** The key is refused. */
  ended(reason: string): void
}

/** The use of one key. It asks for the status of the feeds as long as the page is visible. */
export class Session {
  app: (App & { status: Status }) | undefined
  readonly #events: Events
  readonly #end = new AbortController()
  readonly #listeners = new Set<(status: Status) => void>()

  constructor(origin: string, key: string, events: Events) {
    this.#events = events
    const rest = new Rest(origin, () => key, {})
    const fxd = new Fxd({ url: origin, key })
    void this.#watch(rest, fxd, origin)
  }

  close(): void {
    this.#end.abort()
    this.app = undefined
  }

  async #watch(rest: Rest, fxd: Fxd, origin: string): Promise<void> {
    const { signal } = this.#end
    const asking = {
      signal,
      note: (text: string) => this.#events.note(text),
      refused: (error: FxdError) => this.#refused(error),
    }
    while (!signal.aborted) {
      const status = await askPatiently(() => fxd.status(), asking)
      if (!status) return
      if (this.app) {
        this.app.status = status
        for (const listener of this.#listeners) listener(status)
      } else {
        this.app = this.#makeApp(rest, fxd, origin, status)
        this.#events.ready()
      }
      await sleep(statusEveryMs, signal)
      await untilVisible(signal)
    }
  }

  #makeApp(rest: Rest, fxd: Fxd, origin: string, status: Status): App {
    return {
      fxd,
      rest,
      origin,
      status,
      onStatus: (listener, signal) => {
        this.#listeners.add(listener)
        signal.addEventListener('abort', () => this.#listeners.delete(listener))
      },
      refused: (error) => this.#refused(error),
    }
  }

  #refused(error: FxdError): boolean {
    if (!isOfKey(error.code)) return false
    this.#events.ended(failureText(error))
    return true
  }
}

const untilVisible = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const check = (): void => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', check)
      signal.removeEventListener('abort', check)
      resolve()
    }
    document.addEventListener('visibilitychange', check)
    signal.addEventListener('abort', check)
    check()
  })
