import { createHash } from 'node:crypto'
import { barAt, barCount, countUntil, sliceBars, timeAt } from '../../core/bars/bar.ts'
import { type FeedSeconds, later } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Resolution } from '../../core/feeds/resolution.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedLiveness } from '../../ports/feed-board.ts'
import type { Stores } from '../../ports/stores.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import type { IngestMetrics } from '../metrics.ts'
import type { OrderedEvent } from './event-queue.ts'
import type { Publisher } from './publisher.ts'
import { addCounts, type Counts, type HistoryOutcome, noCounts, storeHistory } from './store-history.ts'
import type { WaitingBars } from './waiting-bars.ts'
import type { WriteDelay } from './write-delay.ts'

export interface LaneDeps {
  readonly stores: Pick<Stores, 'bars'>
  readonly clock: Clock
  readonly metrics: IngestMetrics
  readonly writeDelay: WriteDelay
  readonly waiting: WaitingBars
}

/** What the live bars of a feed change of its state. */
export interface LaneState {
  readonly key: FeedKey
  readonly newest: ReadonlyMap<string, FeedSeconds>
  readonly newestBar: FeedSeconds | undefined
  readonly pushed: Map<string, FeedSeconds>
  readonly publisher: Publisher
  readonly epoch: number
  /** Drops what waits. */
  readonly signal: AbortSignal
  accept(id: string, time: FeedSeconds): void
  noteStored(ends: readonly (readonly [id: string, time: FeedSeconds])[]): void
  note(liveness: FeedLiveness): void
}

export interface Receipt {
  readonly receivedMs: number
  /** The collector can send the bars again after a crash, so they are published before their commit. */
  readonly publishFirst: boolean
}

export interface Taken {
  readonly resolution: Resolution
  /** Resolves once new bars are committed and published, and revised ones readable. Rejects if the session must end. */
  readonly committed: Promise<Counts>
  /** Resolves once history returns all bars and the events after it are published; rejects as `committed`. */
  readonly done: Promise<void>
}

interface Committed {
  readonly counts: Counts
  readonly changed: HistoryOutcome['changed']
  readonly position: number | undefined
}

const nothingLate: HistoryOutcome = { ...noCounts, changed: [] }

/**
 * The live bars of one feed and resolution, over all its sessions: they are committed, acknowledged and announced in
 * order, whatever happens to other resolutions. A bar newer than the last published bar of its series is published.
 * Any other bar is a revision: it is compared after all earlier bars, stored and announced as `revised`.
 */
export class TableLane {
  readonly #resolution: Resolution
  readonly #deps: LaneDeps
  readonly #state: LaneState
  /** Newest time chosen for publishing per series; the publication may follow after the commit. */
  readonly #chosen = new Map<string, FeedSeconds>()
  /** Batches that history does not show yet, by `digestOf`. */
  readonly #waiting = new Map<string, Taken>()
  #lastCommitted: Promise<unknown> = Promise.resolve()
  #lastDone: Promise<unknown> = Promise.resolve()
  /** Bus position up to which readers know that the store has everything of this resolution. */
  #applied = 0

  constructor(resolution: Resolution, deps: LaneDeps, state: LaneState) {
    this.#resolution = resolution
    this.#deps = deps
    this.#state = state
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0
  }

  /** Resolves once all batches taken so far are readable or have failed. */
  async idle(): Promise<void> {
    await this.#lastDone
  }

  /** A batch that comes again joins the one that waits: it is neither published nor written twice. */
  take(batch: readonly GoodSeries[], receipt: Receipt): Taken {
    const digest = digestOf(batch)
    const same = this.#waiting.get(digest)
    if (same) return same
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    const { fresh, late } = this.#split(batch, receipt.publishFirst)
    for (const { id, bars } of batch) this.#state.accept(id, timeAt(bars, barCount(bars) - 1))
    const taken = this.#store(fresh, late, newestBefore, receipt)
    this.#waiting.set(digest, taken)
    const leave = (): void => void this.#waiting.delete(digest)
    void this.#lastDone.then(leave)
    const ends = batch.map(({ id, bars }) => [id, timeAt(bars, barCount(bars) - 1)] as const)
    const count = batch.reduce((sum, { bars }) => sum + barCount(bars), 0)
    this.#deps.waiting.add(this.#state.key, count, taken.committed)
    // After a rejection no later session may join the batch: it would fail, too.
    taken.committed.then(() => this.#state.noteStored(ends), leave)
    return taken
  }

  /** Publishes the event after all earlier bars are readable. */
  publishAfter(event: OrderedEvent): Promise<void> {
    const published = this.#lastDone.then(async () => void (await this.#publish(event)))
    this.#lastDone = published.catch(() => undefined)
    return published
  }

  /** A batch that waits for its write must not be referenced from here: the store keeps its encoded rows. */
  #store(
    fresh: readonly GoodSeries[],
    late: readonly GoodSeries[],
    newestBefore: ReadonlyMap<string, FeedSeconds | undefined>,
    { receivedMs, publishFirst }: Receipt,
  ): Taken {
    const published = publishFirst ? this.#publishBars(fresh, receivedMs) : undefined
    const begin = published && this.#deps.writeDelay.pass(published, receivedMs)
    const { promise: isCommitted, resolve: onCommitted } = Promise.withResolvers<void>()
    const readable = this.#write(fresh, begin, onCommitted)
    const accepted = fresh.reduce((sum, { bars }) => sum + barCount(bars), 0)
    const compared = late.length === 0 ? nothingLate : this.#compare(late, newestBefore)
    const publish = published ? undefined : this.#publishLater(fresh, receivedMs)
    const before = [this.#lastCommitted, Promise.race([isCommitted, readable])]
    const committed = this.#commit(before, { accepted, compared, published, publish })
    const done = this.#apply([this.#lastDone, readable], committed)
    // The caller handles the rejections; later batches go on.
    this.#lastCommitted = committed.catch(() => undefined)
    this.#lastDone = Promise.allSettled([done, readable])
    done.catch(() => undefined)
    return { resolution: this.#resolution, committed: committed.then(({ counts }) => counts), done }
  }

  /** `begin`: when the write starts; `undefined`: now. */
  #write(
    fresh: readonly GoodSeries[],
    begin: Promise<void> | undefined,
    onCommitted: () => void,
  ): Promise<unknown> {
    if (fresh.length === 0) return Promise.resolve()
    const { signal } = this.#state
    const write = () => this.#deps.stores.bars.write(fresh, 'live', { onCommitted, signal })
    return begin ? begin.then(write) : write()
  }

  async #compare(
    late: readonly GoodSeries[],
    newestBefore: ReadonlyMap<string, FeedSeconds | undefined>,
  ): Promise<HistoryOutcome> {
    await this.#lastDone
    const { stores, clock } = this.#deps
    return storeHistory(late, (id) => newestBefore.get(id), {
      store: stores.bars,
      lane: 'live',
      announce: (changed) => this.#state.publisher.publishRevised(changed),
      clock,
      signal: this.#state.signal,
    })
  }

  async #commit(
    before: readonly Promise<unknown>[],
    batch: {
      readonly accepted: number
      readonly compared: HistoryOutcome | Promise<HistoryOutcome>
      readonly published: Promise<number | undefined> | undefined
      readonly publish: (() => Promise<number | undefined>) | undefined
    },
  ): Promise<Committed> {
    const [{ changed, ...late }, published] = await Promise.all([batch.compared, batch.published, ...before])
    const counts = addCounts(late, { ...noCounts, accepted: batch.accepted })
    return { counts, changed, position: batch.publish ? await batch.publish() : published }
  }

  async #apply(before: readonly Promise<unknown>[], committed: Promise<Committed>): Promise<void> {
    const [{ changed, position }] = await Promise.all([committed, ...before])
    await this.#state.publisher.publishRevised(changed)
    if (position === undefined || position <= this.#applied) return
    this.#applied = position
    const feed = this.#state.key
    await this.#publish(
      this.#resolution === '1'
        ? { type: 'applied', feed, position }
        : { type: 'tableApplied', feed, resolution: this.#resolution, position },
    )
  }

  #split(
    batch: readonly GoodSeries[],
    publishFirst: boolean,
  ): { fresh: readonly GoodSeries[]; late: readonly GoodSeries[] } {
    const fresh: GoodSeries[] = []
    const late: GoodSeries[] = []
    for (const each of batch) {
      const pushed = later(this.#chosen.get(each.id), this.#state.pushed.get(each.id))
      const count = barCount(each.bars)
      const start = pushed === undefined ? 0 : countUntil(each.bars, pushed)
      if (start > 0) late.push({ ...each, bars: sliceBars(each.bars, 0, start) })
      if (start === count) continue
      fresh.push(start === 0 ? each : { ...each, bars: sliceBars(each.bars, start, count) })
      // Bars that are published first are in `pushed` before the next batch is split.
      if (!publishFirst) this.#chosen.set(each.id, timeAt(each.bars, count - 1))
    }
    return { fresh, late }
  }

  /** A closure in `#store` would keep the bars in memory until the end of their write. */
  #publishLater(fresh: readonly GoodSeries[], receivedMs: number): () => Promise<number | undefined> {
    return () => this.#publishBars(fresh, receivedMs)
  }

  /** Resolves with the position on the bus; with `undefined` without bars, or while the bus is unavailable. */
  async #publishBars(fresh: readonly GoodSeries[], receivedMs: number): Promise<number | undefined> {
    if (fresh.length === 0) return undefined
    const bars: LiveBar[] = []
    for (const { id, series, bars: columns } of fresh) {
      const { symbol, resolution } = series
      for (let i = 0; i < barCount(columns); i++) bars.push({ symbol, resolution, bar: barAt(columns, i) })
      this.#state.pushed.set(id, timeAt(columns, barCount(columns) - 1))
    }
    const { clock, metrics } = this.#deps
    const count = bars.length
    const position = await this.#publish({ type: 'bars', feed: this.#state.key, bars })
    if (position !== undefined) metrics.pushed(count, (clock.monotonicMs() - receivedMs) / 1000)
    return position
  }

  #publish(event: OrderedEvent): Promise<number | undefined> {
    return this.#state.publisher.publish(event, this.#state.epoch)
  }
}

/** Equal for batches with the same series, times and revisions. */
function digestOf(batch: readonly GoodSeries[]): string {
  const names = batch.map(({ id }) => id).join()
  const numbers = batch.flatMap(({ bars }) => [...bars.time, ...bars.revision])
  return createHash('sha1').update(names).update(Float64Array.from(numbers)).digest('base64')
}
