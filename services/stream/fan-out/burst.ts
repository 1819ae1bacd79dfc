import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { Encoded } from './encoded.ts'
import { barsPrefix, type Frames } from './frame.ts'
import type { SymbolId } from './symbol-table.ts'

/** The bars of one feed and one time, for sockets that get many bars in a frame. */
export class BarList {
  readonly time: FeedSeconds
  readonly prefix: Buffer
  readonly entries = new Encoded()

  constructor(feed: FeedKey, time: FeedSeconds) {
    this.time = time
    this.prefix = Buffer.from(barsPrefix(feed, time), 'latin1')
  }
}

/** Bars that closed together: single frames, and lists of bars. It is cleared and used again. */
export class Burst {
  readonly frames = new Encoded()
  /** Ascending in time once the burst is sealed: so the times of a symbol ascend from frame to frame. */
  lists: readonly BarList[] = []
  /** Monotonic milliseconds at which the first bar was added. */
  since = 0
  readonly #lists = new Map<string, BarList>()

  get empty(): boolean {
    return this.frames.empty && this.#lists.size === 0
  }

  add(symbol: SymbolId, frames: Frames): void {
    this.frames.add(symbol, frames)
  }

  addEntry(symbol: SymbolId, feed: FeedKey, time: FeedSeconds, entry: Frames): void {
    const id = `${time} ${feed}`
    const list = this.#lists.get(id) ?? new BarList(feed, time)
    this.#lists.set(id, list)
    list.entries.add(symbol, entry)
  }

  /** Encodes all bars once for all sockets. None may be added afterwards until `clear`. */
  seal(): void {
    this.frames.seal()
    this.lists = [...this.#lists.values()].sort((a, b) => a.time - b.time)
    for (const { entries } of this.lists) entries.seal()
  }

  has(symbol: SymbolId): boolean {
    return this.frames.has(symbol) || this.#lists.values().some(({ entries }) => entries.has(symbol))
  }

  clear(): void {
    this.frames.clear()
    this.lists = []
    this.#lists.clear()
  }
}
