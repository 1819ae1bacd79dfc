import type { Resolution } from '../../core/resolution.ts'
import type { Span } from '../../core/window.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Conversation } from './conversation.ts'
import { Room } from './room.ts'

/** Windows sent and not yet acknowledged: below what ingest holds before it reads no more, live bars included. */
export const windowsMax = 128

export interface WindowSenderOptions {
  readonly talk: Conversation
  readonly log: Log
  /** Aborts with the session. */
  readonly signal: AbortSignal
}

/** The windows of one session, a bounded number at once. */
export class WindowSender {
  readonly #options: WindowSenderOptions
  readonly #room: Room

  constructor(options: WindowSenderOptions) {
    this.#options = options
    this.#room = new Room(windowsMax, options.signal)
  }

  /** Resolves once ingest has answered; the empty symbol is the whole feed. Rejects when the session ends. */
  async send(symbol: string, resolution: Resolution, { from, to }: Span): Promise<void> {
    const { talk, log } = this.#options
    await this.#room.enter(1)
    try {
      const { refused } = await talk.window({ symbol, resolution, from, to })
      if (refused[0])
        log.warn({ symbol, resolution, from, to, why: refused[0].message }, 'a window was refused')
    } finally {
      this.#room.leave(1)
    }
  }
}
