import { seriesId } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'

/** Pause before a failed read is retried. */
const retryMs = 5_000

export interface BaselineDeps {
  readonly bars: Pick<BarStore, 'lastTimes'>
  readonly registry: FollowedRegistry
  readonly clock: Clock
  /** Symbols of the feed that have a subscriber now. */
  readonly subscribed: (feed: FeedKey) => readonly CompoundKey[]
}

/**
 * The newest stored minute of each symbol when this process started. Ingest accepts only later bars after a
 * subscription, so a refill can begin here for a symbol without a live bar. A symbol has no
 * baseline if a client subscribed to it before the read, or if the store had no bar of it.
 */
export class Baseline {
  readonly #deps: BaselineDeps
  readonly #times = new Map<FeedKey, ReadonlyMap<string, FeedSeconds>>()
  /** The newest read of each feed. */
  readonly #reads = new Map<FeedKey, object>()
  readonly #ending = new AbortController()
  readonly #unlisten: () => void

  constructor(deps: BaselineDeps) {
    this.#deps = deps
    const { registry } = deps
    this.#unlisten = registry.onChange((view) => this.#readAll(view))
    if (registry.loaded) this.#readAll(registry.view())
  }

  of(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#times.get(feedOf(symbol))?.get(minutesOf(symbol))
  }

  close(): void {
    this.#unlisten()
    this.#ending.abort()
  }

  /** Replaces what was read of the feed: its bars may have been purged. */
  readAgain(feed: FeedKey): void {
    this.#times.delete(feed)
    if (this.#reads.has(feed)) void this.#read(feed)
  }

  #readAll(view: RegistryView): void {
    for (const { key, resolutions } of view.feeds())
      if (!this.#reads.has(key) && resolutions.includes('1')) void this.#read(key)
  }

  async #read(feed: FeedKey): Promise<void> {
    const { bars, clock, subscribed } = this.#deps
    const read = {}
    this.#reads.set(feed, read)
    while (!this.#ending.signal.aborted) {
      try {
        // A table out of order leaves out its own symbols only.
        const as = { lane: 'backfill', reader: serviceReader('baseline'), isPartial: true } as const
        const times = new Map(await bars.lastTimes(feed, as))
        if (this.#reads.get(feed) !== read) return
        // Bars that arrived after their subscription may be included.
        for (const symbol of subscribed(feed)) times.delete(minutesOf(symbol))
        this.#times.set(feed, times)
        return
      } catch {
        await clock.sleep(retryMs, this.#ending.signal)
      }
    }
  }
}

const minutesOf = (symbol: CompoundKey): string => seriesId({ symbol, resolution: '1' })
