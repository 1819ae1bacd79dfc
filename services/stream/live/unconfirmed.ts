import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'

interface Loss {
  /** The last position that may be lost. */
  readonly upTo: number
  readonly sinceMs: number
}

/** Feeds whose lost events the store may not show yet. */
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

  /** Milliseconds since the first such loss; 0 if the store shows everything. */
  ageMs(feed: FeedKey): number {
    const loss = this.#losses.get(feed)
    return loss ? this.#clock.monotonicMs() - loss.sinceMs : 0
  }
}
