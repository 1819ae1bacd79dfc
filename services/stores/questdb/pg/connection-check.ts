import { Unavailable, WrongServer } from '../../../core/failure.ts'
import type { QuestdbOptions } from '../options.ts'

/** A server that was found to be wrong is not asked again sooner. */
const wrongForMs = 1_000

/** Stands before every new connection. */
export interface ConnectionCheck {
  /** Resolves when the server was looked at since a connection was last lost; looks at it when it was not. */
  pass(): Promise<void>
  /** A connection ended: whatever answers next may be another server, or one without its data. */
  lost(): void
}

export const noConnectionCheck: ConnectionCheck = { pass: () => Promise.resolve(), lost: () => undefined }

/**
 * A server may come back older, with another commit mode, with tables of a newer fxd, or empty, and an
 * empty one would answer "no such bars" to everything. So nothing is read or written before `look`,
 * which rejects with `WrongServer`, has found it to be right again.
 */
export class ServerConnectionCheck implements ConnectionCheck {
  readonly #options: Pick<QuestdbOptions, 'clock' | 'log'>
  readonly #look: () => Promise<void>
  #isOpen = false
  #isKnown = false
  #losses = 0
  #looking: Promise<void> | undefined
  #wrong: { readonly cause: WrongServer; readonly untilMs: number } | undefined

  constructor(options: Pick<QuestdbOptions, 'clock' | 'log'>, look: () => Promise<void>) {
    this.#options = options
    this.#look = look
  }

  /** From now on: before, the tables may not be made yet. */
  open(): void {
    this.#isOpen = true
  }

  pass(): Promise<void> {
    if (!this.#isOpen)
      return Promise.reject(new Unavailable('store', new Error('its tables are not looked at yet')))
    if (this.#isKnown) return Promise.resolve()
    if (this.#wrong !== undefined && this.#options.clock.monotonicMs() < this.#wrong.untilMs)
      return Promise.reject(new Unavailable('store', this.#wrong.cause))
    this.#looking ??= this.#lookAgain().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  lost(): void {
    this.#isKnown = false
    this.#losses++
  }

  async #lookAgain(): Promise<void> {
    const losses = this.#losses
    try {
      await this.#look()
    } catch (cause) {
      if (!(cause instanceof WrongServer)) throw cause
      if (this.#wrong?.cause.message !== cause.message)
        this.#options.log.error({ err: cause }, 'QuestDB came back changed; nothing is read or written')
      this.#wrong = { cause, untilMs: this.#options.clock.monotonicMs() + wrongForMs }
      throw new Unavailable('store', cause)
    }
    this.#wrong = undefined
    // Lost again meanwhile: who waits for this look has an answer, the next one looks anew.
    this.#isKnown = losses === this.#losses
  }
}
