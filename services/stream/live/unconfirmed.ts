import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'

interface Loss {
  /** The last position that may have been lost. */
  readonly upTo: number
  readonly sinceMs: number
}

/** Feeds of which the bus lost events that the store is not known to show yet. */
export class Unconfirmed {
  readonly #clock: Clock
  readonly #losses = new Map<FeedKey, Loss>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  lost(feed: FeedKey, upTo: number): void {
    this.#losses.set(feed, { upTo, sinceMs: this.#losses.get(feed)?.sinceMs ?? this.#clock.monotonicMs() })
  }

  /** The store shows everything up to this position. */
  applied(feed: FeedKey, position: number): void {
    const loss = this.#losses.get(feed)
    if (loss && position >= loss.upTo) this.#losses.delete(feed)
  }

  has(feed: FeedKey): boolean {
    return this.#losses.has(feed)
  }

  /** Since how many milliseconds; 0 when it shows everything. */
  ageMs(feed: FeedKey): number {
    const loss = this.#losses.get(feed)
    return loss ? this.#clock.monotonicMs() - loss.sinceMs : 0
  }
}
