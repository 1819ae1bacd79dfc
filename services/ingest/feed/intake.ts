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
 * The live lane of one session. A bar newer than the last published bar of its series is published: during its
 * write if the collector can send it again after a crash, else after the commit. Any other bar is a revision: it
 * is stored and announced as `revised`, but never published. Batches are answered in order.
 */
export class LiveIntake {
  readonly #deps: IntakeDeps
  readonly #state: FeedState
  readonly #epoch: number
  readonly #publishFirst: boolean
  /** Newest time chosen for publishing per series; the publication may follow after the commit. */
  readonly #chosen = new Map<string, FeedSeconds>()
  #last: Promise<unknown> = Promise.resolve()
  /** Bus position up to which readers know that the store has everything. */
  #applied = 0
  #inFlight = 0

  constructor(deps: IntakeDeps, state: FeedState, options: { epoch: number; publishFirst: boolean }) {
    this.#deps = deps
    this.#state = state
    this.#epoch = options.epoch
    this.#publishFirst = options.publishFirst
  }

  /** Resolves after the commit and the events after it; rejects if the session must end. */
  take(batch: readonly GoodSeries[], receivedMs: number): Promise<Counts> {
    const { fresh, late } = this.#split(batch)
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    this.#noteReceipt(batch)
    const published = this.#publishFirst ? this.#publishBars(fresh, receivedMs) : undefined
    const { bars } = this.#deps.stores
    const written = fresh.length > 0 ? bars.write(fresh, 'live') : Promise.resolve()
    if (published)
      written.catch((cause: unknown) => {
        // Any other error is a defect; a retry would fail again.
        if (cause instanceof Unavailable) this.#state.unstored.add(fresh)
      })
    const compared = storeHistory(late, (id) => newestBefore.get(id), bars, 'live')
    const done = this.#finish(this.#last, { fresh, written, compared, published, receivedMs })
    this.#last = done
    this.#inFlight += 1
    done.finally(() => (this.#inFlight -= 1)).catch(() => undefined)
    // The caller and the next batch handle the rejection.
    done.catch(() => undefined)
    return done
  }

  /** Announces to readers, after all earlier batches, that the terminal answered for these minutes. */
  complete(from: FeedSeconds, to: FeedSeconds): Promise<void> {
    const event = { type: 'minutes' as const, feed: this.#state.key, from, to }
    const published = this.#last.then(async () => void (await this.#publish(event)))
    this.#last = published
    published.catch(() => undefined)
    return published
  }

  /** Announces that the store has everything, so that readers that lost events need not wait for more. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0 || !this.#state.unstored.isEmpty) return
    await this.#publish({ type: 'settled', feed: this.#state.key })
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
    // After a failure nothing of the batch may still be in flight: the next session starts when this one ended.
    await Promise.allSettled(parts)
    const [, , { changed, ...late }, published] = await Promise.all(parts)
    const position = batch.published ? published : await this.#publishBars(batch.fresh, batch.receivedMs)
    await this.#state.publisher.publishRevised(changed)
    if (position !== undefined && position > this.#applied) {
      this.#applied = position
      await this.#publish({ type: 'applied', feed: this.#state.key, position })
    }
    const accepted = batch.fresh.reduce((sum, { bars }) => sum + barCount(bars), 0)
    return addCounts(late, { ...noCounts, accepted })
  }

  #split(batch: readonly GoodSeries[]): { fresh: GoodSeries[]; late: GoodSeries[] } {
    const fresh: GoodSeries[] = []
    const late: GoodSeries[] = []
    for (const each of batch) {
      const pushed = later(this.#chosen.get(each.id), this.#state.pushed.get(each.id))
      const count = barCount(each.bars)
      const start = pushed === undefined ? 0 : countUntil(each.bars, pushed)
      if (start > 0) late.push({ ...each, bars: sliceBars(each.bars, 0, start) })
      if (start === count) continue
      // The series is live from its first bar: bars whose write only seemed to fail are not taken for history.
      if (pushed === undefined)
        this.#state.pushed.set(each.id, feedSeconds((each.bars.time[0] as number) - 1))
      fresh.push({ ...each, bars: sliceBars(each.bars, start, count) })
      this.#chosen.set(each.id, feedSeconds(each.bars.time[count - 1] as number))
    }
    return { fresh, late }
  }

  #noteReceipt(batch: readonly GoodSeries[]): void {
    if (batch.length === 0) return
    for (const { id, bars } of batch)
      this.#state.accept(id, feedSeconds(bars.time[barCount(bars) - 1] as number))
    // An hourly bar may have opened before stored minutes, so the batch's own newest time could be older.
    this.#state.note({ receivedAt: this.#deps.clock.utcMs(), newestBar: this.#state.newestBar })
  }

  /** Resolves with the position on the bus; with `undefined` without bars, or while the bus is unavailable. */
  async #publishBars(fresh: readonly GoodSeries[], receivedMs: number): Promise<number | undefined> {
    if (fresh.length === 0) return undefined
    const bars: LiveBar[] = []
    for (const { id, series, bars: columns } of fresh) {
      const { symbol, resolution } = series
      for (let i = 0; i < barCount(columns); i++) bars.push({ symbol, resolution, bar: barAt(columns, i) })
      this.#state.pushed.set(id, feedSeconds(columns.time[barCount(columns) - 1] as number))
    }
    const { clock, metrics } = this.#deps
    const position = await this.#publish({ type: 'bars', feed: this.#state.key, bars })
    if (position !== undefined) metrics.pushed(bars.length, (clock.monotonicMs() - receivedMs) / 1000)
    return position
  }

  #publish(event: Parameters<Publisher['publish']>[0]): Promise<number | undefined> {
    return this.#state.publisher.publish(event, this.#epoch)
  }
}

/** The backfill lane of one session: compares batches, one after another, with the stored bars. */
export class BackfillIntake {
  readonly #deps: IntakeDeps
  readonly #state: FeedState
  #last: Promise<unknown> = Promise.resolve()

  constructor(deps: IntakeDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
  }

  /** Runs `check` after all earlier batches. Resolves after the commit and the events after it. */
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
    await this.#state.publisher.publishRevised(changed)
    return counts
  }
}
