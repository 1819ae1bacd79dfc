import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, FxdProcess } from './fxd-process.ts'
import { feed, symbols } from './market.ts'

const periodMs = 100
/** A failure comes within two seconds; the rest is for a busy machine. */
const answerMsMax = 6_000

/** Asks a service for bars and for its status all the time, as its users do. */
export class Asker {
  readonly answers: Answer[] = []
  readonly statuses = new Set<string>()
  readonly #asked: Promise<void>
  #stopped = false

  constructor(fxd: FxdProcess) {
    this.#asked = this.#ask(fxd)
    this.#asked.catch(() => undefined)
  }

  /** Gives the first answers that took too long or were neither bars nor a failure that says so. */
  async stop(): Promise<readonly Answer[]> {
    this.#stopped = true
    await this.#asked
    const strange = this.answers.filter(({ status, body, tookMs }) => {
      const { s } = body as { s?: string }
      return tookMs > answerMsMax || !(status === 200 ? s === 'ok' : status === 500 && s === 'error')
    })
    return strange.slice(0, 3)
  }

  /** Rejects when an answer does not come at all. */
  async #ask(fxd: FxdProcess): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const symbol = symbols[i % symbols.length] ?? symbols[0]
      this.answers.push(await fxd.get(`/v1/history?symbol=${feed}:${symbol}&resolution=1&countback=300`))
      this.statuses.add(await fxd.platformStatus())
      await pause(periodMs)
    }
  }
}
