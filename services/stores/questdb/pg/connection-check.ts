import { Unavailable, WrongServer } from '../../../core/failure.ts'
import type { QuestdbOptions } from '../options.ts'

/** Minimum time between two queries to a server that was found to be wrong. */
const wrongForMs = 1_000

/** Called before every new connection. */
export interface ConnectionCheck {
  /** Resolves when the server was checked since the last lost connection; otherwise checks it. */
  pass(): Promise<void>
  /** A connection ended: the next server that answers may be another one, or may have lost its data. */
  lost(): void
}

export const noConnectionCheck: ConnectionCheck = { pass: () => Promise.resolve(), lost: () => undefined }

/**
 * After a lost connection a server may have an older version, another commit mode, tables of a newer fxd, or no data.
 * An empty server would answer "no such bars" to every query. So nothing is read or written until `look`, which
 * rejects with `WrongServer`, has found it right.
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

  /** Checks begin after this call: before, the tables may not exist yet. */
  open(): void {
    this.#isOpen = true
  }

  pass(): Promise<void> {
    if (!this.#isOpen)
      return Promise.reject(new Unavailable('store', new Error('the tables in QuestDB are not checked yet')))
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
        this.#options.log.error(
          { err: cause },
          'QuestDB unavailable: the server is not the expected one; reads and writes are rejected',
        )
      this.#wrong = { cause, untilMs: this.#options.clock.monotonicMs() + wrongForMs }
      throw new Unavailable('store', cause)
    }
    this.#wrong = undefined
    // When a connection was lost during this check, its waiters continue and the next call checks again.
    this.#isKnown = losses === this.#losses
  }
}
