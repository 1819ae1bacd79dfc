import { seriesId } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { SymbolTable } from '../fan-out/symbol-table.ts'

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
  #stored: ReadonlyMap<string, FeedSeconds> = new Map()
  /** Symbols that had a subscriber before the read: bars that arrived after their subscription may be included. */
  #unknown: ReadonlySet<CompoundKey> = new Set()
  #reading: AbortController | undefined

  constructor(deps: BaselineDeps, feed: FeedKey) {
    this.#deps = deps
    this.#feed = feed
  }

  of(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#unknown.has(symbol) ? undefined : this.#stored.get(minutesOf(symbol))
  }

  /** Whether a read began. */
  get isRead(): boolean {
    return this.#reading !== undefined
  }

  /** Whether the store had bars of the symbol at the last read. */
  isStored(symbol: CompoundKey): boolean {
    return this.#stored.has(minutesOf(symbol))
  }

  get isEmpty(): boolean {
    return this.#stored.size === 0
  }

  /** Replaces what was read before; retries until the store answers. Returns whether it did: never after another read. */
  async read(): Promise<boolean> {
    const { bars, clock, symbols } = this.#deps
    this.close()
    this.#stored = new Map()
    this.#reading = new AbortController()
    const { signal } = this.#reading
    // A table out of order leaves out its own symbols only.
    const as = { lane: 'backfill', reader: serviceReader('baseline'), isPartial: true } as const
    while (!signal.aborted) {
      try {
        const stored = await bars.lastTimes(this.#feed, as)
        if (signal.aborted) return false
        this.#stored = stored
        this.#unknown = new Set(symbols.subscribed())
        return true
      } catch {
        await clock.sleep(retryMs, signal)
      }
    }
    return false
  }

  close(): void {
    this.#reading?.abort()
  }
}

const minutesOf = (symbol: CompoundKey): string => seriesId({ symbol, resolution: '1' })
