import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { BarList } from './bar-list.ts'
import { Encoded } from './encoded.ts'
import type { Frames } from './frame.ts'
import type { SymbolId } from './symbol-table.ts'

/** Bars that closed together: single frames, and lists of bars. It is cleared and used again. */
export class Burst {
  readonly frames = new Encoded()
  /** Ascending in time once the burst is sealed: so the times of a symbol ascend from frame to frame. */
  lists: readonly BarList[] = []
  /** Monotonic milliseconds at which the first bar was added. */
  since = 0
  readonly #lists = new Map<string, BarList>()
  /** The list of the last entry: most entries follow others of their list. */
  #newest: BarList | undefined

  get empty(): boolean {
    return this.frames.empty && this.#lists.size === 0
  }

  add(symbol: SymbolId, frames: Frames): void {
    this.frames.add(symbol, frames)
  }

  addEntry(symbol: SymbolId, feed: FeedKey, time: FeedSeconds, entry: Frames): void {
    if (this.#newest?.feed !== feed || this.#newest.time !== time) this.#newest = this.#list(feed, time)
    this.#newest.entries.add(symbol, entry)
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
    this.#newest = undefined
  }

  #list(feed: FeedKey, time: FeedSeconds): BarList {
    const id = `${time} ${feed}`
    const list = this.#lists.get(id) ?? new BarList(feed, time)
    this.#lists.set(id, list)
    return list
  }
}
