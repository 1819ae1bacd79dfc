import type { Bar } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'

/** Half an hour of a symbol's minutes; whoever was away for longer reads the store. */
const barsMax = 30

interface Held {
  /** Ascending, all after the floor but for the bar that set it. */
  bars: Bar[]
  /** Every live bar after this time is in `bars`; absent: bars were lost, and none came since. */
  floor: FeedSeconds | undefined
  /** Bars and losses that ever came, and how many of them left; the oldest leave first. */
  came: number
  left: number
}

/** The newest live bars of each symbol, by its number: what a returning client missed without asking the store. */
export class Recent {
  readonly #held = new Map<number, Held>()

  add(id: number, bar: Bar): void {
    const held = this.#of(id)
    held.came += 1
    // It waited for its turn while it was revised.
    if (held.floor !== undefined && bar.time <= held.floor) return void (held.left = held.came)
    held.floor ??= bar.time
    if (held.bars.push(bar) <= barsMax) return
    held.floor = (held.bars.shift() as Bar).time
    held.left += 1
  }

  /** Bars before the next one may be missing here: what is remembered begins anew with it. */
  broken(id: number): void {
    const held = this.#of(id)
    held.bars = []
    held.floor = undefined
    // Who read the store before the loss has not read what was lost.
    held.came += 1
    held.left = held.came
  }

  /** History shows something else of bars up to this time than the live lane did: the store is read for them. */
  revised(id: number, to: FeedSeconds): void {
    const held = this.#held.get(id)
    if (held?.floor === undefined || to <= held.floor) return
    const later = held.bars.filter(({ time }) => time > to)
    held.left += held.bars.length - later.length
    held.bars = later
    held.floor = to
  }

  /** Whether every live bar after this time is here. */
  covers(id: number, time: FeedSeconds): boolean {
    const floor = this.#held.get(id)?.floor
    return floor !== undefined && time >= floor
  }

  /** A mark to be asked about later. */
  mark(id: number): number {
    return this.#held.get(id)?.came ?? 0
  }

  /** Whether all bars that came since the mark are still here, and none was lost. */
  coversSince(id: number, mark: number): boolean {
    return (this.#held.get(id)?.left ?? 0) <= mark
  }

  after(id: number, time: FeedSeconds): readonly Bar[] {
    return this.#held.get(id)?.bars.filter((bar) => bar.time > time) ?? []
  }

  #of(id: number): Held {
    const held = this.#held.get(id) ?? { bars: [], floor: undefined, came: 0, left: 0 }
    this.#held.set(id, held)
    return held
  }
}
