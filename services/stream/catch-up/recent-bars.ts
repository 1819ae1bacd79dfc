import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'

/** Maximum bars kept per symbol: half an hour of minutes. For older bars the store is read. */
const barsMax = 30

interface SymbolBars {
  /** Ascending; all later than `floor`, except the bar that set it. */
  bars: Bar[]
  /** Every live bar after this time is in `bars`. Absent: bars were lost, and none arrived since. */
  floor: FeedSeconds | undefined
  /** Bars and losses added since the start. */
  added: number
  /** How many of them were dropped; the oldest are dropped first. */
  dropped: number
}

/** The newest live bars of each symbol, by symbol number: a returning client gets them without a read of the store. */
export class RecentBars {
  readonly #bySymbol = new Map<SymbolId, SymbolBars>()

  add(id: SymbolId, bar: Bar): void {
    const recent = this.#of(id)
    recent.added += 1
    // The bar was revised while it was queued.
    if (recent.floor !== undefined && bar.time <= recent.floor) return void (recent.dropped = recent.added)
    recent.floor ??= bar.time
    if (recent.bars.push(bar) <= barsMax) return
    recent.floor = (recent.bars.shift() as Bar).time
    recent.dropped += 1
  }

  /** Bars were lost: forgets all bars, and begins again with the next one. */
  broken(id: SymbolId): void {
    const recent = this.#of(id)
    recent.bars = []
    recent.floor = undefined
    // A read of the store before the loss does not include what was lost.
    recent.added += 1
    recent.dropped = recent.added
  }

  /** Revisions may have been lost: forgets all bars, so that the store is read for them. The next bar follows them. */
  revisionsLost(id: SymbolId): void {
    const newest = this.#bySymbol.get(id)?.bars.at(-1)
    if (newest) this.revised(id, newest.time)
  }

  /** History differs from the live bars up to this time: forgets them, so that the store is read for them. */
  revised(id: SymbolId, to: FeedSeconds): void {
    const recent = this.#bySymbol.get(id)
    if (recent?.floor === undefined || to <= recent.floor) return
    const later = recent.bars.filter(({ time }) => time > to)
    recent.dropped += recent.bars.length - later.length
    recent.bars = later
    recent.floor = to
  }

  /** Whether this has every live bar after this time. */
  covers(id: SymbolId, time: FeedSeconds): boolean {
    const floor = this.#bySymbol.get(id)?.floor
    return floor !== undefined && time >= floor
  }

  /** The current mark, for `coversSince`. */
  mark(id: SymbolId): number {
    return this.#bySymbol.get(id)?.added ?? 0
  }

  /** Whether this has all bars that arrived since the mark, and none was lost. */
  coversSince(id: SymbolId, mark: number): boolean {
    return (this.#bySymbol.get(id)?.dropped ?? 0) <= mark
  }

  after(id: SymbolId, time: FeedSeconds): readonly Bar[] {
    return this.#bySymbol.get(id)?.bars.filter((bar) => bar.time > time) ?? []
  }

  #of(id: SymbolId): SymbolBars {
    const recent = this.#bySymbol.get(id) ?? { bars: [], floor: undefined, added: 0, dropped: 0 }
    this.#bySymbol.set(id, recent)
    return recent
  }
}
