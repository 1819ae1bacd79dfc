import { type Bar, type Bars, barCount, toList } from '../core/bar.ts'
import type { CompoundKey, FeedKey } from '../core/compound-key.ts'
import { type FeedSeconds, feedSeconds } from '../core/feed-clock.ts'
import type { BarStore } from '../ports/bars.ts'
import type { LiveBar } from '../ports/bus.ts'
import type { Cancel, Clock } from '../ports/clock.ts'

/** A feed waits this long for the store to show what the bus lost, and to be read; then the gap is named. */
export const refillTimeoutMs = 5_000
/** Four hours of one symbol; a longer hole is named instead of being pushed. */
export const refillBarsMax = 240
const readsAtOnce = 8
/** As many as the tail of the bus keeps for history. */
const heldBarsMax = 100_000
const endOfTime = feedSeconds(2 ** 40)

/** A symbol someone is subscribed to, with the open time of its last bar on the bus. */
export interface Wanted {
  readonly symbol: CompoundKey
  readonly last: FeedSeconds | undefined
}

/** What the refill needs from the live lane. */
export interface RefillLane {
  /** The subscribed symbols of a feed. */
  wanted(feed: FeedKey): readonly Wanted[]
  /** Sends a bar on, unless its symbol is past it already. */
  emit(symbol: CompoundKey, bar: Bar): void
  /** The hole is closed, after everything that waited was sent on; not whole: a gap was named. */
  ended(feed: FeedKey, isWhole: boolean): void
  /** Names what may be missing to its subscribers. */
  nameGap(missing: readonly Wanted[]): void
  /** Counts a read of the store that failed. */
  readFailed(): void
}

interface Hole {
  /** The last position that may have been lost. */
  readonly upTo: number
  /** What came since, waiting for its turn. */
  readonly held: LiveBar[]
  readonly cancel: Cancel
}

/**
 * Closes holes of the bus. After a loss the bars of the feed wait until the store is known to show
 * everything up to it (`applied`, `settled`); then what the subscribers miss is read and sent
 * in order, and what waited follows. Whatever cannot be read in time is named in a GAP frame.
 */
export class Refill {
  readonly #lane: RefillLane
  readonly #store: Pick<BarStore, 'read'>
  readonly #clock: Clock
  readonly #holes = new Map<FeedKey, Hole>()

  constructor(lane: RefillLane, store: Pick<BarStore, 'read'>, clock: Clock) {
    this.#lane = lane
    this.#store = store
    this.#clock = clock
  }

  isOpen(feed: FeedKey): boolean {
    return this.#holes.has(feed)
  }

  get none(): boolean {
    return this.#holes.size === 0
  }

  begin(feed: FeedKey, upTo: number): void {
    const before = this.#holes.get(feed)
    before?.cancel()
    const cancel = this.#clock.after(refillTimeoutMs, () => this.#giveUp(feed))
    this.#holes.set(feed, { upTo, held: before?.held ?? [], cancel })
  }

  hold(feed: FeedKey, bars: readonly LiveBar[]): void {
    const hole = this.#holes.get(feed)
    hole?.held.push(...bars)
    if (hole && hole.held.length > heldBarsMax) this.#giveUp(feed)
  }

  applied(feed: FeedKey, position: number): void {
    const hole = this.#holes.get(feed)
    if (hole && position >= hole.upTo) void this.#fill(feed, hole)
  }

  close(): void {
    for (const hole of this.#holes.values()) hole.cancel()
    this.#holes.clear()
  }

  async #fill(feed: FeedKey, hole: Hole): Promise<void> {
    const wanted = this.#lane.wanted(feed)
    const found = new Map<Wanted, Bars | undefined>()
    const queue = [...wanted]
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        if (this.#holes.get(feed) !== hole) return
        found.set(next, await this.#read(feed, next))
      }
    }
    await Promise.all(Array.from({ length: readsAtOnce }, worker))
    // Given up meanwhile, or the bus lost more: then the next `applied` begins again.
    if (this.#holes.get(feed) !== hole) return
    for (const [{ symbol }, bars] of found) {
      if (bars) for (const bar of toList(bars)) this.#lane.emit(symbol, bar)
    }
    this.#end(
      feed,
      wanted.filter((each) => found.get(each) === undefined),
    )
  }

  /** `undefined`: it cannot be known what is missing. */
  async #read(feed: FeedKey, { symbol, last }: Wanted): Promise<Bars | undefined> {
    if (last === undefined) return undefined
    try {
      const bars = await this.#store.read({
        series: { feed, symbol, resolution: '1' },
        from: feedSeconds(last + 1),
        to: endOfTime,
        take: { count: refillBarsMax + 1, end: 'oldest' },
      })
      return barCount(bars) > refillBarsMax ? undefined : bars
    } catch {
      // The GAP frame says it to those whom it concerns, a metric to the operator.
      this.#lane.readFailed()
      return undefined
    }
  }

  #giveUp(feed: FeedKey): void {
    this.#end(feed, this.#lane.wanted(feed))
  }

  #end(feed: FeedKey, missing: readonly Wanted[]): void {
    const hole = this.#holes.get(feed)
    hole?.cancel()
    this.#holes.delete(feed)
    if (missing.length > 0) this.#lane.nameGap(missing)
    for (const { symbol, bar } of hole?.held ?? []) this.#lane.emit(symbol, bar)
    this.#lane.ended(feed, missing.length === 0)
  }
}
