import { seriesId } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/feeds/registry.ts'
import { readerNamed } from '../../core/turns.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'

const retryMs = 5_000

export interface BaselineDeps {
  readonly bars: Pick<BarStore, 'lastTimes'>
  readonly registry: FollowedRegistry
  readonly clock: Clock
  /** Subscribed symbols of a feed, as they are now. */
  readonly subscribed: (feed: FeedKey) => readonly CompoundKey[]
}

/**
 * The newest stored minute of each symbol when this process began. What ingest takes after a subscription is later
 * than that, so of a symbol that never came over the bus a refill knows where to begin. A symbol that was
 * subscribed to before this was read, or of which nothing was stored, has none.
 */
export class Baseline {
  readonly #deps: BaselineDeps
  readonly #times = new Map<FeedKey, ReadonlyMap<string, FeedSeconds>>()
  readonly #asked = new Set<FeedKey>()
  readonly #ending = new AbortController()
  readonly #unlisten: () => void

  constructor(deps: BaselineDeps) {
    this.#deps = deps
    const { registry } = deps
    this.#unlisten = registry.onChange((view) => this.#askAll(view))
    if (registry.loaded) this.#askAll(registry.view())
  }

  of(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#times.get(feedOf(symbol))?.get(minutesOf(symbol))
  }

  close(): void {
    this.#unlisten()
    this.#ending.abort()
  }

  #askAll(view: RegistryView): void {
    for (const { key, resolutions } of view.feeds()) {
      if (this.#asked.has(key) || !resolutions.includes('1')) continue
      this.#asked.add(key)
      void this.#ask(key)
    }
  }

  async #ask(feed: FeedKey): Promise<void> {
    const { bars, clock, subscribed } = this.#deps
    while (!this.#ending.signal.aborted) {
      try {
        const times = new Map(
          await bars.lastTimes(feed, { lane: 'backfill', reader: readerNamed('baseline') }),
        )
        // What came between their subscription and the end of this read may be in it.
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
