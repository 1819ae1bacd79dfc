import { setTimeout as pause } from 'node:timers/promises'
import { barsOf, type RevisedBar } from '../../services/core/bar.ts'
import { encodeSeries } from '../support/encode-series.ts'
import { RawSession } from '../support/raw-session.ts'
import type { Reading } from './check-history.ts'

export interface FeederOptions {
  readonly address: string
  readonly feed: string
  readonly mode: 'LIVE' | 'IMPORT'
  /** The next batch: bars by symbol. */
  readonly next: () => ReadonlyMap<string, readonly RevisedBar[]>
}

/**
 * A collector that keeps each batch until it is acknowledged, over any number of sessions, and notes
 * what it sent and what was acknowledged.
 */
export class Feeder {
  readonly readings: Reading[] = []
  /** Sessions that ended before their time. */
  broken = 0
  ackedBatches = 0
  readonly #options: FeederOptions
  #pending: { readonly series: ReturnType<typeof encodeSeries>[]; readonly readings: Reading[] } | undefined
  #stopping = false

  constructor(options: FeederOptions) {
    this.#options = options
  }

  /** Resolves once `stop` was called and the last batch is acknowledged. */
  async run(): Promise<void> {
    while (!this.#stopping || this.#pending !== undefined) {
      const session = new RawSession(this.#options.address)
      try {
        await this.#feed(session)
        await session.close()
      } catch (cause) {
        if (cause instanceof RefusedBars) throw cause
        this.broken++
        session.stream.cancel()
        await pause(100)
      }
    }
  }

  stop(): void {
    this.#stopping = true
  }

  async #feed(session: RawSession): Promise<void> {
    const { feed, mode } = this.#options
    await session.hello(feed, { mode, id: `feeder-${mode}` })
    while (!this.#stopping || this.#pending !== undefined) {
      this.#pending ??= this.#take()
      const { refused } = await session.bars(mode === 'LIVE' ? 'LIVE' : 'BACKFILL', this.#pending.series)
      if (refused.length > 0) throw new RefusedBars(JSON.stringify(refused[0]))
      for (const reading of this.#pending.readings) reading.acked = true
      this.#pending = undefined
      this.ackedBatches++
    }
  }

  #take() {
    const batch = [...this.#options.next()]
    const readings = batch.flatMap(([symbol, bars]) => bars.map((bar) => ({ symbol, bar, acked: false })))
    this.readings.push(...readings)
    const series = batch.map(([symbol, bars]) =>
      encodeSeries({ symbol, resolution: '1', scale: 5 }, barsOf(bars)),
    )
    return { series, readings }
  }
}

/** A defect of the test: it sends good bars only. */
class RefusedBars extends Error {}
