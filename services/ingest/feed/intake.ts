import { barAt, barCount, countUntil, sliceBars } from '../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds, later } from '../../core/clocks/feed-clock.ts'
import { Unavailable } from '../../core/failure.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Stores } from '../../ports/stores.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import type { IngestMetrics } from '../metrics.ts'
import type { FeedState } from './feed-state.ts'
import type { Publisher } from './publisher.ts'
import { addCounts, type Counts, noCounts, storeHistory } from './store-history.ts'

export interface IntakeDeps {
  readonly stores: Pick<Stores, 'bars'>
  readonly clock: Clock
  readonly metrics: IngestMetrics
}

/**
 * The live lane of one session. A bar newer than the last one published of its series is published
 * (beside its write when it could be read again after a crash, else after the commit); any other is
 * a revision: stored, told as `revised`, never published. Batches commit in their order.
 */
export class LiveIntake {
  readonly #deps: IntakeDeps
  readonly #state: FeedState
  readonly #epoch: number
  readonly #publishFirst: boolean
  /** Newest time taken for publishing, which may come after the commit. */
  readonly #promised = new Map<string, FeedSeconds>()
  #last: Promise<unknown> = Promise.resolve()
  /** Up to here readers know that the store shows everything. */
  #applied = 0
  #underWay = 0

  constructor(deps: IntakeDeps, state: FeedState, options: { epoch: number; publishFirst: boolean }) {
    this.#deps = deps
    this.#state = state
    this.#epoch = options.epoch
    this.#publishFirst = options.publishFirst
  }

  /** Resolves after the commit and the events that follow it; rejects when the session cannot go on. */
  take(batch: readonly GoodSeries[], receivedMs: number): Promise<Counts> {
    const { fresh, late } = this.#split(batch)
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    this.#noteReceipt(batch)
    const published = this.#publishFirst ? this.#publish(fresh, receivedMs) : undefined
    const { bars } = this.#deps.stores
    const written = fresh.length > 0 ? bars.write(fresh, 'live') : Promise.resolve()
    if (published)
      written.catch((cause: unknown) => {
        // Anything else is a defect, which another try would meet again.
        if (cause instanceof Unavailable) this.#state.unstored.add(fresh)
      })
    const compared = storeHistory(late, (id) => newestBefore.get(id), bars, 'live')
    const done = this.#finish(this.#last, { fresh, written, compared, published, receivedMs })
    this.#last = done
    this.#underWay += 1
    done.finally(() => (this.#underWay -= 1)).catch(() => undefined)
    // Whoever called hears of it; the next batch in line does too.
    done.catch(() => undefined)
    return done
  }

  /** Tells readers, after everything taken so far, that the terminal answered for these minutes. */
  complete(from: FeedSeconds, to: FeedSeconds): Promise<void> {
    const event = { type: 'minutes' as const, feed: this.#state.key, from, to }
    const told = this.#last.then(async () => void (await this.#tell(event)))
    this.#last = told
    told.catch(() => undefined)
    return told
  }

  /** Tells readers that the store shows all there was, so that those who lost something need not wait for more. */
  async settled(): Promise<void> {
    if (this.#underWay > 0 || !this.#state.unstored.isEmpty) return
    await this.#tell({ type: 'settled', feed: this.#state.key })
  }

  async #finish(
    before: Promise<unknown>,
    batch: {
      fresh: readonly GoodSeries[]
      written: Promise<void>
      compared: ReturnType<typeof storeHistory>
      published: Promise<number | undefined> | undefined
      receivedMs: number
    },
  ): Promise<Counts> {
    const publishing = batch.published ?? Promise.resolve(undefined)
    const parts = [before, batch.written, batch.compared, publishing] as const
    // After a failure too nothing of it may still be under way: the next session begins when this one ended.
    await Promise.allSettled(parts)
    const [, , { changed, ...late }, published] = await Promise.all(parts)
    const position = batch.published ? published : await this.#publish(batch.fresh, batch.receivedMs)
    await this.#state.publisher.tellRevised(changed)
    if (position !== undefined && position > this.#applied) {
      this.#applied = position
      await this.#tell({ type: 'applied', feed: this.#state.key, position })
    }
    const accepted = batch.fresh.reduce((sum, { bars }) => sum + barCount(bars), 0)
    return addCounts(late, { ...noCounts, accepted })
  }

  #split(batch: readonly GoodSeries[]): { fresh: GoodSeries[]; late: GoodSeries[] } {
    const fresh: GoodSeries[] = []
    const late: GoodSeries[] = []
    for (const each of batch) {
      const pushed = later(this.#promised.get(each.id), this.#state.pushed.get(each.id))
      const count = barCount(each.bars)
      const start = pushed === undefined ? 0 : countUntil(each.bars, pushed)
      if (start > 0) late.push({ ...each, bars: sliceBars(each.bars, 0, start) })
      if (start === count) continue
      // From here on it is live: a write that only seemed to fail makes no history of what nobody was told.
      if (pushed === undefined)
        this.#state.pushed.set(each.id, feedSeconds((each.bars.time[0] as number) - 1))
      fresh.push({ ...each, bars: sliceBars(each.bars, start, count) })
      this.#promised.set(each.id, feedSeconds(each.bars.time[count - 1] as number))
    }
    return { fresh, late }
  }

  #noteReceipt(batch: readonly GoodSeries[]): void {
    if (batch.length === 0) return
    for (const { id, bars } of batch)
      this.#state.accept(id, feedSeconds(bars.time[barCount(bars) - 1] as number))
    // A longer bar that comes alone opened before bars that are stored.
    this.#state.note({ receivedAt: this.#deps.clock.utcMs(), newestBar: this.#state.newestBar })
  }

  /** Gives the position on the bus; `undefined` when there was nothing to publish or the bus is away. */
  async #publish(fresh: readonly GoodSeries[], receivedMs: number): Promise<number | undefined> {
    if (fresh.length === 0) return undefined
    const bars: LiveBar[] = []
    for (const { id, series, bars: columns } of fresh) {
      const { symbol, resolution } = series
      for (let i = 0; i < barCount(columns); i++) bars.push({ symbol, resolution, bar: barAt(columns, i) })
      this.#state.pushed.set(id, feedSeconds(columns.time[barCount(columns) - 1] as number))
    }
    const { clock, metrics } = this.#deps
    const position = await this.#tell({ type: 'bars', feed: this.#state.key, bars })
    if (position !== undefined) metrics.pushed(bars.length, (clock.monotonicMs() - receivedMs) / 1000)
    return position
  }

  #tell(event: Parameters<Publisher['tell']>[0]): Promise<number | undefined> {
    return this.#state.publisher.tell(event, this.#epoch)
  }
}

/** The backfill lane of one session: one batch after another, compared with what is stored. */
export class BackfillIntake {
  readonly #deps: IntakeDeps
  readonly #state: FeedState
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: IntakeDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
  }

  /** `check` runs when the batch's turn has come; resolves after the commit and the events that follow it. */
  take(check: () => readonly GoodSeries[]): Promise<Counts> {
    const done = this.#last.then(() => this.#store(check()))
    this.#last = done
    done.catch(() => undefined)
    return done
  }

  async #store(batch: readonly GoodSeries[]): Promise<Counts> {
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    for (const { id, bars } of batch) {
      this.#state.accept(id, feedSeconds(bars.time[barCount(bars) - 1] as number))
    }
    const { changed, ...counts } = await storeHistory(
      batch,
      (id) => newestBefore.get(id),
      this.#deps.stores.bars,
      'backfill',
    )
    await this.#state.publisher.tellRevised(changed)
    return counts
  }
}
