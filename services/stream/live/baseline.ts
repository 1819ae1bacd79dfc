import { seriesId } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SymbolTable } from '../fan-out/symbol-table.ts'

/** Pause before a failed read is retried. */
const retryMs = 5_000

interface BaselineDeps {
  readonly bars: Pick<BarStore, 'lastTimes'>
  readonly clock: Clock
  readonly symbols: SymbolTable
}

/**
 * The newest stored minute of each symbol of a feed when this process first saw the feed. Ingest accepts only later
 * bars after a subscription, so a refill can begin here for a symbol without a live bar. A symbol has no
 * baseline if a client subscribed to it before the read, or if the store had no bar of it.
 */
export class Baseline {
  readonly #deps: BaselineDeps
  readonly #feed: FeedKey
  #times: ReadonlyMap<string, FeedSeconds> = new Map()
  #reading: AbortController | undefined

  constructor(deps: BaselineDeps, feed: FeedKey) {
    this.#deps = deps
    this.#feed = feed
  }

  of(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#times.get(minutesOf(symbol))
  }

  get isRead(): boolean {
    return this.#reading !== undefined
  }

  /** Replaces what was read before. Never rejects; retries until the store answers. */
  async read(): Promise<void> {
    const { bars, clock, symbols } = this.#deps
    this.close()
    this.#times = new Map()
    this.#reading = new AbortController()
    const { signal } = this.#reading
    while (!signal.aborted) {
      try {
        // A table out of order leaves out its own symbols only.
        const as = { lane: 'backfill', reader: serviceReader('baseline'), isPartial: true } as const
        const times = new Map(await bars.lastTimes(this.#feed, as))
        if (signal.aborted) return
        // Bars that arrived after their subscription may be included.
        for (const id of symbols.subscribedIds()) times.delete(minutesOf(symbols.symbol(id)))
        this.#times = times
        return
      } catch {
        await clock.sleep(retryMs, signal)
      }
    }
  }

  close(): void {
    this.#reading?.abort()
  }
}

const minutesOf = (symbol: CompoundKey): string => seriesId({ symbol, resolution: '1' })
