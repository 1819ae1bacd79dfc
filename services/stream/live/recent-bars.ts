import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'

/** Maximum bars kept: half an hour of minutes. For older bars the store is read. */
const barsMax = 30

/** The newest live bars of a symbol: a returning client gets them without a read of the store. */
export class RecentBars {
  /** Ascending; all later than `#floor`, except the bar that set it. */
  #bars: Bar[] = []
  /** Every live bar after this time is in `#bars`. Absent: bars were lost, and none arrived since. */
  #floor: FeedSeconds | undefined
  /** Bars and losses added since the start. */
  #added = 0
  /** How many of them were dropped; the oldest are dropped first. */
  #dropped = 0

  add(bar: Bar): void {
    this.#added += 1
    // The bar was revised while it was queued.
    if (this.#floor !== undefined && bar.time <= this.#floor) return void (this.#dropped = this.#added)
    this.#floor ??= bar.time
    if (this.#bars.push(bar) <= barsMax) return
    this.#floor = (this.#bars.shift() as Bar).time
    this.#dropped += 1
  }

  /** Bars were lost: forgets all bars, and begins again with the next one. */
  restart(): void {
    this.#bars = []
    this.#floor = undefined
    // A read of the store before the loss does not include what was lost.
    this.#added += 1
    this.#dropped = this.#added
  }

  /** Revisions may have been lost: forgets all bars, so that the store is read for them. The next bar follows them. */
  revisionsLost(): void {
    const newest = this.#bars.at(-1)
    if (newest) this.revised(newest.time)
  }

  /** History differs from the live bars up to this time: forgets them, so that the store is read for them. */
  revised(to: FeedSeconds): void {
    if (this.#floor === undefined || to <= this.#floor) return
    const later = this.#bars.filter(({ time }) => time > to)
    this.#dropped += this.#bars.length - later.length
    this.#bars = later
    this.#floor = to
  }

  /** Whether this has every live bar after this time. */
  covers(time: FeedSeconds): boolean {
    return this.#floor !== undefined && time >= this.#floor
  }

  get mark(): number {
    return this.#added
  }

  /** Whether this has all bars that arrived since the mark, and none was lost. */
  coversSince(mark: number): boolean {
    return this.#dropped <= mark
  }

  after(time: FeedSeconds): readonly Bar[] {
    return this.#bars.filter((bar) => bar.time > time)
  }
}
