import type { Span } from '../../core/bars/window.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { Log } from '../../platform/log/log.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { SessionClient } from './session-client.ts'

/** Windows sent and not yet acknowledged: below what ingest holds before it reads no more, live bars included. */
export const windowsMax = 128

export interface WindowSenderDeps {
  readonly client: SessionClient
  readonly log: Log
  /** Aborts with the session. */
  readonly signal: AbortSignal
}

/** The windows of one session, a bounded number at once. */
export class WindowSender {
  readonly #deps: WindowSenderDeps
  readonly #semaphore: Semaphore

  constructor(deps: WindowSenderDeps) {
    this.#deps = deps
    this.#semaphore = new Semaphore(windowsMax, deps.signal)
  }

  /** Resolves once ingest has answered; the empty symbol is the whole feed. Rejects when the session ends. */
  async send(symbol: string, resolution: Resolution, { from, to }: Span): Promise<void> {
    const { client, log } = this.#deps
    await this.#semaphore.enter(1)
    try {
      const { refused } = await client.window({ symbol, resolution, from, to })
      if (refused[0])
        log.warn({ symbol, resolution, from, to, why: refused[0].message }, 'a window was refused')
    } finally {
      this.#semaphore.leave(1)
    }
  }
}
