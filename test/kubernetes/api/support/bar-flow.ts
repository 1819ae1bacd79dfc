import { setTimeout as pause } from 'node:timers/promises'
import { RawSession, seriesAt } from '../../../support/clients/raw-session.ts'

const everyMs = 200
const backSeconds = 6 * 3_600

/** The symbol, as in a manifest. */
export const eurusd = { raw: 'EURUSD', type: 'forex', digits: 5 } as const

/** A collector of one feed with the symbol EURUSD: it starts 6 h in the past and closes a minute five times a second. */
export class BarFlow {
  readonly #session: RawSession
  readonly #running: Promise<void>
  readonly #begin = Math.floor(Date.now() / 60_000) * 60 - backSeconds
  #minutes = 0
  #isOpen = true

  /** `address` is host:port of ingest; `feed` is BROKER:ACCOUNT. */
  constructor(address: string, feed: string) {
    this.#session = new RawSession(address)
    this.#running = this.#run(feed)
  }

  /** Number of acknowledged minutes. */
  get minutes(): number {
    return this.#minutes
  }

  /** Number of minutes before the minute with this open time. */
  minuteOf(time: string): number {
    return (Date.parse(time) / 1_000 - this.#begin) / 60
  }

  /** Whether the minute with this open time was sent. */
  opened(time: string): boolean {
    const minute = this.minuteOf(time)
    return Number.isInteger(minute) && minute >= 0 && minute <= this.#minutes
  }

  async close(): Promise<void> {
    this.#isOpen = false
    await this.#running
    await this.#session.close()
  }

  async #run(feed: string): Promise<void> {
    await this.#session.hello(feed)
    while (this.#isOpen) {
      await this.#session.bars('LIVE', [seriesAt('EURUSD', [this.#begin + this.#minutes * 60])])
      this.#minutes += 1
      await pause(everyMs)
    }
  }
}
