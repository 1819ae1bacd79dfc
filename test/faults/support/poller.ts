import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, FxdProcess } from './fxd-process.ts'
import { feed, symbols } from './market.ts'

const periodMs = 100
/** Deadline of an answer; fxd fails within 2 s, the rest is for a busy machine. */
const answerMsMax = 6_000

/** Requests bars and the status of a service repeatedly, as its users do. */
export class Poller {
  readonly answers: Answer[] = []
  readonly statuses = new Set<string>()
  readonly #running: Promise<void>
  #stopped = false

  constructor(fxd: FxdProcess) {
    this.#running = this.#run(fxd)
    this.#running.catch(() => undefined)
  }

  /** Stops; returns the first answers that were late, or neither bars nor a proper failure. */
  async stop(): Promise<readonly Answer[]> {
    this.#stopped = true
    await this.#running
    const unexpected = this.answers.filter(({ status, body, tookMs }) => {
      const { s } = body as { s?: string }
      return tookMs > answerMsMax || !(status === 200 ? s === 'ok' : status === 500 && s === 'error')
    })
    return unexpected.slice(0, 3)
  }

  /** Rejects when a request gets no answer. */
  async #run(fxd: FxdProcess): Promise<void> {
    for (let i = 0; !this.#stopped; i++) {
      const symbol = symbols[i % symbols.length] ?? symbols[0]
      this.answers.push(await fxd.get(`/v1/history?symbol=${feed}:${symbol}&resolution=1&countback=300`))
      this.statuses.add(await fxd.platformStatus())
      await pause(periodMs)
    }
  }
}
