import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { BarStore } from '../../ports/bars.ts'

/** Maximum live bars of a feed without an Ack, over all its sessions; at it the feed's sessions are not read. */
export const unackedBarsMax = 100_000
/** Bars that a batch counts as at least: each batch takes memory, however few its bars are. */
const barsPerBatchMin = 10
/** Maximum encoded bytes that wait for the store, over all feeds; above it feeds with the most are not read. */
const waitingBytesMax = 64 * 1024 * 1024

/** The live bars that wait for the store, and the sessions that are not read because too many wait. */
export class WaitingBars {
  readonly #store: Pick<BarStore, 'waitingBytes'>
  readonly #bars = new Map<FeedKey, number>()
  readonly #paused = new Set<() => void>()

  constructor(store: Pick<BarStore, 'waitingBytes'>) {
    this.#store = store
  }

  add(feed: FeedKey, count: number, committed: Promise<unknown>): void {
    const bars = Math.max(count, barsPerBatchMin)
    this.#bars.set(feed, this.#of(feed) + bars)
    const leave = (): void => {
      this.#bars.set(feed, this.#of(feed) - bars)
      if (this.#of(feed) === 0) this.#bars.delete(feed)
      const paused = [...this.#paused]
      this.#paused.clear()
      for (const resume of paused) resume()
    }
    committed.then(leave, leave)
  }

  /** Whether the feed's sessions should not be read. Then `resume` is called once, when less waits. */
  isFull(feed: FeedKey, resume: () => void): boolean {
    if (this.#of(feed) < unackedBarsMax && !this.#hasMostBytes(feed)) return false
    this.#paused.add(resume)
    return true
  }

  #of(feed: FeedKey): number {
    return this.#bars.get(feed) ?? 0
  }

  /** Above the maximum, each feed with at least an equal share of the bytes waits. */
  #hasMostBytes(feed: FeedKey): boolean {
    const bytes = this.#store.waitingBytes()
    const total = bytes.values().reduce((sum, each) => sum + each, 0)
    return total > waitingBytesMax && (bytes.get(feed) ?? 0) * bytes.size >= total
  }
}
