import type { Bar } from '../../core/bar.ts'
import type { FeedSeconds } from '../../core/feed-clock.ts'

/** Half an hour of a symbol's minutes; whoever was away for longer reads the store. */
const barsMax = 30

interface Held {
  readonly bars: Bar[]
  /** Every live bar after this time is in `bars`. */
  floor: FeedSeconds
  /** Bars that ever came, and how many of them left. */
  came: number
  left: number
}

/** The newest live bars of each symbol, by its number: what a returning client missed without asking the store. */
export class Recent {
  readonly #held = new Map<number, Held>()

  add(id: number, bar: Bar): void {
    const held = this.#held.get(id)
    if (!held) return void this.#held.set(id, { bars: [bar], floor: bar.time, came: 1, left: 0 })
    held.came += 1
    if (held.bars.push(bar) <= barsMax) return
    held.floor = (held.bars.shift() as Bar).time
    held.left += 1
  }

  /** Bars up to the newest one may be missing here. */
  broken(id: number): void {
    const held = this.#held.get(id)
    const newest = held?.bars.at(-1)
    if (held && newest) held.floor = newest.time
  }

  /** Whether every live bar after this time is here. */
  covers(id: number, time: FeedSeconds): boolean {
    const held = this.#held.get(id)
    return held !== undefined && time >= held.floor
  }

  /** A mark to be asked about later. */
  mark(id: number): number {
    return this.#held.get(id)?.came ?? 0
  }

  /** Whether all bars that came since the mark are still here. */
  coversSince(id: number, mark: number): boolean {
    return (this.#held.get(id)?.left ?? 0) <= mark
  }

  after(id: number, time: FeedSeconds): readonly Bar[] {
    return this.#held.get(id)?.bars.filter((bar) => bar.time > time) ?? []
  }
}
