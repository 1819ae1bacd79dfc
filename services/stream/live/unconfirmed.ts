import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Clock } from '../../ports/clock.ts'
import { emptyHoleMs, emptyHoleMsMax } from './refill.ts'

interface Loss {
  /** The last position that may be lost. */
  readonly upTo: number
  /** Monotonic milliseconds of the first loss of this wait. */
  readonly begunMs: number
  /** Monotonic milliseconds at which the wait for the store ends. */
  readonly endMs: number
}

/** Feeds whose lost events the store may not show yet. */
export class Unconfirmed {
  readonly #clock: Clock
  readonly #losses = new Map<FeedKey, Loss>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Begins or extends the wait for the store. The wait ends 20 s after the newest loss, but at most 60 s
   * after the first one. A hole in `Refill` follows the same rule.
   */
  lost(feed: FeedKey, upTo: number): void {
    const nowMs = this.#clock.monotonicMs()
    const before = this.#losses.get(feed)
    const begunMs = before && nowMs < before.endMs ? before.begunMs : nowMs
    this.#losses.set(feed, { upTo, begunMs, endMs: Math.min(nowMs + emptyHoleMs, begunMs + emptyHoleMsMax) })
  }

  /** The store shows everything up to this position. */
  applied(feed: FeedKey, position: number): void {
    const loss = this.#losses.get(feed)
    if (loss && position >= loss.upTo) this.#losses.delete(feed)
  }

  has(feed: FeedKey): boolean {
    return this.#losses.has(feed)
  }

  /** Whether the store may soon show what was lost. */
  isAwaited(feed: FeedKey): boolean {
    const loss = this.#losses.get(feed)
    return loss !== undefined && this.#clock.monotonicMs() < loss.endMs
  }
}
