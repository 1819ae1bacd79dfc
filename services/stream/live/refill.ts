import { type Bar, type Bars, barCount, toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { serviceReader } from '../../core/fair-queue.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Cancel, Clock } from '../../ports/clock.ts'

/** Maximum wait of queued bars until the store shows the lost bars; then a GAP frame names the lost bars. */
export const queuedMsMax = 10_000
/** Maximum wait for each answer of the store, once it shows the lost bars. */
const answerMsMax = 10_000
/** Maximum duration of all reads, while the store answers: a slow store is still faster than a request of each client. */
const readingMsMax = 60_000
/** Maximum age of a hole without queued bars: the time in which another collector and ingest take over. */
export const emptyHoleMs = 20_000
/** Maximum time for which losses that follow each other make one hole, as when sessions of a feed end one by one. */
export const emptyHoleMsMax = 60_000
/** Pause before a failed read is retried. */
const readRetryMs = 250
/** Maximum bars that are read for one symbol: four hours. A GAP frame names a longer hole. */
export const refillBarsMax = 240
/** Maximum reads at once for one hole: half of the read connections to QuestDB; replays and REST have the others. */
const readsAtOnce = 8
/** Maximum queued bars of one hole: as many as the tail of the bus keeps for history. */
const queuedBarsMax = 100_000
const reader = serviceReader('refill')

/** A symbol with a subscriber. Bars that open after `last` may be missing. */
export interface WantedSymbol {
  readonly symbol: CompoundKey
  readonly last: FeedSeconds | undefined
}

/** What the refill needs from the live delivery. */
export interface RefillDelivery {
  /** The subscribed symbols of a feed. */
  wanted(feed: FeedKey): readonly WantedSymbol[]
  /** Pushes a bar, unless a later bar of its symbol was pushed. */
  emit(symbol: CompoundKey, bar: Bar): void
  /** Bars of the feed were lost: those of the `filled` symbols were pushed; those of all others are unknown. */
  broken(feed: FeedKey, filled: ReadonlySet<CompoundKey>): void
  /** The hole is closed, and all queued bars were pushed. If `isWhole` is false, a GAP frame was sent for it. */
  ended(feed: FeedKey, isWhole: boolean): void
  /** Sends GAP frames to the subscribers of these symbols. */
  nameGap(missing: readonly WantedSymbol[]): void
  /** Counts a read of the store that failed. */
  readFailed(): void
}

interface Hole {
  /** The last position that may be lost. */
  readonly upTo: number
  /** Bars that arrived after the first loss; `loss` marks each later loss. */
  readonly queued: (LiveBar | 'loss')[]
  /** Monotonic milliseconds of its first loss. */
  readonly begunMs: number
  /** Monotonic milliseconds of the first queued bar. */
  queuedSinceMs: number | undefined
  cancel: Cancel
  /** Set once the store shows all lost bars: symbols to read, and bars read so far. */
  reading:
    | {
        readonly wanted: readonly WantedSymbol[]
        readonly found: Map<WantedSymbol, Bars>
        readonly endMs: number
      }
    | undefined
}

/**
 * Closes holes of the bus. After a loss the bars of the feed are queued until the store shows everything up to
 * it (`applied`, `settled`). Then the missed bars are read and pushed in order, and the queued bars follow.
 * GAP frames name what cannot be read in time, before the bar that follows each loss.
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
    const { queued, begunMs, queuedSinceMs }: Pick<Hole, 'queued' | 'begunMs' | 'queuedSinceMs'> = before ?? {
      queued: [],
      begunMs: nowMs,
      queuedSinceMs: undefined,
    }
    if (queued.length > 0 && queued.at(-1) !== 'loss') queued.push('loss')
    const quietEndMs = Math.min(nowMs + emptyHoleMs, begunMs + emptyHoleMsMax)
    // Further losses move the end only while no bar is queued.
    const endMs = queuedSinceMs === undefined ? quietEndMs : queuedSinceMs + queuedMsMax
    const cancel = this.#endAfter(feed, Math.max(0, endMs - nowMs))
    this.#holes.set(feed, { upTo, queued, begunMs, queuedSinceMs, cancel, reading: undefined })
  }

  queue(feed: FeedKey, bars: readonly LiveBar[]): void {
    const hole = this.#holes.get(feed)
    if (!hole || bars.length === 0) return
    if (hole.queuedSinceMs === undefined) {
      hole.queuedSinceMs = this.#clock.monotonicMs()
      if (!hole.reading) {
        hole.cancel()
        hole.cancel = this.#endAfter(feed, queuedMsMax)
      }
    }
    hole.queued.push(...bars)
    if (hole.queued.length > queuedBarsMax) this.#endNow(feed)
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
        hole.cancel = this.#endAfter(feed, Math.max(0, Math.min(answerMsMax, leftMs)))
      }
    }
    await Promise.all(Array.from({ length: readsAtOnce }, worker))
    // The deadline may have ended it, or the bus lost more: then the next `applied` begins again.
    if (this.#holes.get(feed) === hole) this.#end(feed, hole)
  }

  /** Retries until the hole ends. Returns `undefined` if it is unknown what is missing, or if it is too long. */
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
        // Clients see it in the GAP frame, operators in a metric.
        this.#delivery.readFailed()
        await this.#clock.sleep(readRetryMs)
      }
    }
    return undefined
  }

  #endAfter(feed: FeedKey, delayMs: number): Cancel {
    return this.#clock.after(delayMs, () => this.#endNow(feed))
  }

  #endNow(feed: FeedKey): void {
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
    const filled = new Set([...found.keys()].map(({ symbol }) => symbol))
    const missing = wanted.filter((each) => !found.has(each))
    const reportLoss = (unread: readonly WantedSymbol[]): void => {
      this.#delivery.broken(feed, filled)
      if (unread.length > 0) this.#delivery.nameGap(unread)
    }
    reportLoss(missing)
    // A GAP frame covers all bars before the next bar of its symbol. Until that bar the symbol needs no other frame.
    const pushed = new Set<CompoundKey>()
    for (const each of hole.queued) {
      if (each === 'loss') {
        reportLoss(missing.filter(({ symbol }) => pushed.has(symbol)))
        pushed.clear()
      } else {
        this.#delivery.emit(each.symbol, each.bar)
        pushed.add(each.symbol)
      }
    }
    this.#delivery.ended(feed, missing.length === 0)
  }
}
