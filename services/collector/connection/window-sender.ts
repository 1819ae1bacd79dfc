import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { SessionDeps } from './session-deps.ts'

/** Maximum unacknowledged windows; below the number at which ingest stops reading the session, live bars included. */
export const windowsMax = 128

type WindowSenderDeps = Pick<SessionDeps, 'client' | 'log' | 'signal'>

export class WindowSender {
  readonly #deps: WindowSenderDeps
  readonly #semaphore: Semaphore

  constructor(deps: WindowSenderDeps) {
    this.#deps = deps
    this.#semaphore = new Semaphore(windowsMax, deps.signal)
  }

  /** Resolves once ingest has answered. The empty symbol means the whole feed. Rejects when the session ends. */
  async send(symbol: string, resolution: Resolution, { from, to }: Span): Promise<void> {
    const { client, log } = this.#deps
    await this.#semaphore.enter(1)
    try {
      const { refused } = await client.window({ symbol, resolution, from, to })
      if (refused[0])
        log.warn({ symbol, resolution, from, to, why: refused[0].message }, 'window rejected by ingest')
    } finally {
      this.#semaphore.leave(1)
    }
  }
}
