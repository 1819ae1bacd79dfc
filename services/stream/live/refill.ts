import { type Bar, type Bars, barCount, toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import { readerNamed } from '../../core/turns.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

/** Bars wait this long for the store to show what the bus lost before them; then the gap is named. */
export const queuedMsMax = 10_000
/** And this long for each answer of the store, once it shows that. */
const answerMsMax = 10_000
/** In all, while the store answers read after read: a slow one is still faster than each client asking for itself. */
const readingMsMax = 60_000
/** Without bars that wait nobody is kept from anything: as long as another collector and ingest may need to take over. */
export const quietMs = 20_000
/** Losses that follow each other, as when sessions of a feed end one after another, make one hole for no longer. */
export const quietMsMax = 60_000
/** A store that fails is asked again. */
const readRetryMs = 250
/** Four hours of one symbol; a longer hole is named instead of being pushed. */
export const refillBarsMax = 240
/** For one hole: half of a process's connections for reading QuestDB, so that replays, and in `fxd all` REST, find others. */
const readsAtOnce = 8
/** As many as the tail of the bus keeps for history. */
const queuedBarsMax = 100_000
const reader = readerNamed('refill')

/** A symbol someone is subscribed to, with the open time of its last bar on the bus, or of one before all it may miss. */
export interface WantedSymbol {
  readonly symbol: CompoundKey
  readonly last: FeedSeconds | undefined
}

/** What the refill needs from the live lane. */
export interface RefillDelivery {
  /** The subscribed symbols of a feed. */
  wanted(feed: FeedKey): readonly WantedSymbol[]
  /** Sends a bar on, unless its symbol is past it already. */
  emit(symbol: CompoundKey, bar: Bar): void
  /** What was lost of the feed is over; of these symbols it was sent on, of all others it is not known. */
  broken(feed: FeedKey, filled: ReadonlySet<CompoundKey>): void
  /** The hole is closed, after everything that waited was sent on; not whole: a gap was named. */
  ended(feed: FeedKey, isWhole: boolean): void
  /** Names what may be missing to its subscribers. */
  nameGap(missing: readonly WantedSymbol[]): void
  /** Counts a read of the store that failed. */
  readFailed(): void
}

interface Hole {
  /** The last position that may have been lost. */
  readonly upTo: number
  /** What came since, waiting for its turn. */
  readonly queued: LiveBar[]
  /** Monotonic milliseconds of its first loss. */
  readonly begunMs: number
  /** When it is given up; further losses move it only while nothing is held. */
  endMs: number
  cancel: Cancel
  /** Once the store shows it all: what is read, and what of it was. */
  reading:
    | {
        readonly wanted: readonly WantedSymbol[]
        readonly found: Map<WantedSymbol, Bars>
        readonly endMs: number
      }
    | undefined
}

/**
 * Closes holes of the bus. After a loss the bars of the feed wait until the store is known to show
 * everything up to it (`applied`, `settled`); then what the subscribers miss is read and sent
 * in order, and what waited follows. Whatever cannot be read in time is named in a GAP frame.
 */
export class Refill {
  readonly #delivery: RefillDelivery
  readonly #store: Pick<BarStore, 'read'>
  readonly #clock: Clock
  readonly #holes = new Map<FeedKey, Hole>()

  constructor(delivery: RefillDelivery, store: Pick<BarStore, 'read'>, clock: Clock) {
    this.#delivery = delivery
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
    const nowMs = this.#clock.monotonicMs()
    const { queued, begunMs } = before ?? { queued: [], begunMs: nowMs }
    const quietEndMs = Math.min(nowMs + quietMs, begunMs + quietMsMax)
    const endMs = before && queued.length > 0 ? before.endMs : quietEndMs
    const cancel = this.#giveUpAfter(feed, endMs - nowMs)
    this.#holes.set(feed, { upTo, queued, begunMs, endMs, cancel, reading: undefined })
  }

  queue(feed: FeedKey, bars: readonly LiveBar[]): void {
    const hole = this.#holes.get(feed)
    if (!hole || bars.length === 0) return
    if (hole.queued.length === 0 && !hole.reading) {
      hole.cancel()
      hole.endMs = this.#clock.monotonicMs() + queuedMsMax
      hole.cancel = this.#giveUpAfter(feed, queuedMsMax)
    }
    hole.queued.push(...bars)
    if (hole.queued.length > queuedBarsMax) this.#giveUp(feed)
  }

  applied(feed: FeedKey, position: number): void {
    const hole = this.#holes.get(feed)
    if (hole && position >= hole.upTo && !hole.reading) void this.#fill(feed, hole)
  }

  close(): void {
    for (const hole of this.#holes.values()) hole.cancel()
    this.#holes.clear()
  }

  async #fill(feed: FeedKey, hole: Hole): Promise<void> {
    const endMs = this.#clock.monotonicMs() + readingMsMax
    const reading = { wanted: this.#delivery.wanted(feed), found: new Map<WantedSymbol, Bars>(), endMs }
    hole.reading = reading
    const queue = [...reading.wanted]
    const worker = async (): Promise<void> => {
      for (let next = queue.pop(); next; next = queue.pop()) {
        const bars = await this.#read(feed, next, hole)
        if (this.#holes.get(feed) !== hole) return
        if (!bars) continue
        reading.found.set(next, bars)
        const leftMs = endMs - this.#clock.monotonicMs()
        hole.cancel()
        hole.cancel = this.#giveUpAfter(feed, Math.max(0, Math.min(answerMsMax, leftMs)))
      }
    }
    await Promise.all(Array.from({ length: readsAtOnce }, worker))
    // Given up meanwhile, or the bus lost more: then the next `applied` begins again.
    if (this.#holes.get(feed) === hole) this.#end(feed, hole)
  }

  /** `undefined`: it cannot be known what is missing. Asks until the hole is given up. */
  async #read(feed: FeedKey, { symbol, last }: WantedSymbol, hole: Hole): Promise<Bars | undefined> {
    if (last === undefined) return undefined
    while (this.#holes.get(feed) === hole) {
      try {
        const bars = await this.#store.read({
          series: { feed, symbol, resolution: '1' },
          from: feedSeconds(last + 1),
          to: barTimeMax,
          take: { count: refillBarsMax + 1, end: 'oldest' },
          reader,
        })
        return barCount(bars) > refillBarsMax ? undefined : bars
      } catch {
        // The GAP frame says it to those whom it concerns, a metric to the operator.
        this.#delivery.readFailed()
        await this.#clock.sleep(readRetryMs)
      }
    }
    return undefined
  }

  #giveUpAfter(feed: FeedKey, delayMs: number): Cancel {
    return this.#clock.after(delayMs, () => this.#giveUp(feed))
  }

  #giveUp(feed: FeedKey): void {
    const hole = this.#holes.get(feed)
    if (hole) this.#end(feed, hole)
  }

  #end(feed: FeedKey, hole: Hole): void {
    const { wanted, found } = hole.reading ?? {
      wanted: this.#delivery.wanted(feed),
      found: new Map<WantedSymbol, Bars>(),
    }
    hole.cancel()
    this.#holes.delete(feed)
    for (const [{ symbol }, bars] of found) for (const bar of toList(bars)) this.#delivery.emit(symbol, bar)
    this.#delivery.broken(feed, new Set([...found.keys()].map(({ symbol }) => symbol)))
    const missing = wanted.filter((each) => !found.has(each))
    if (missing.length > 0) this.#delivery.nameGap(missing)
    for (const { symbol, bar } of hole.queued) this.#delivery.emit(symbol, bar)
    this.#delivery.ended(feed, missing.length === 0)
  }
}
