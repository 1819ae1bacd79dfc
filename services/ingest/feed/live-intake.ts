import { barAt, barCount, countUntil, sliceBars } from '../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds, later } from '../../core/clocks/feed-clock.ts'
import { TableOutOfOrder, Unavailable } from '../../core/failure.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Stores } from '../../ports/stores.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import type { IngestMetrics } from '../metrics.ts'
import type { FeedState } from './feed-state.ts'
import type { Publisher } from './publisher.ts'
import { addCounts, type Counts, type HistoryOutcome, noCounts, storeHistory } from './store-history.ts'
import type { WriteDelay } from './write-delay.ts'

export interface IntakeDeps {
  readonly stores: Pick<Stores, 'bars'>
  readonly clock: Clock
  readonly metrics: IngestMetrics
  readonly writeDelay: WriteDelay
}

/** The work of one live batch. Batches reach each state in order. */
export interface Taken {
  /** Resolves once new bars are committed and published, and revised ones readable. Rejects if the session must end. */
  readonly committed: Promise<Counts>
  /** Resolves once history returns all bars and the events after it are published; rejects as `committed`. */
  readonly done: Promise<void>
}

/** The write of a batch's bars that are published. */
interface FreshWrite {
  readonly committed: Promise<void>
  readonly readable: Promise<void>
}

interface Batch {
  readonly fresh: readonly GoodSeries[]
  readonly write: FreshWrite
  readonly compared: Promise<HistoryOutcome>
  /** `undefined`: the bars are published after their commit. */
  readonly published: Promise<number | undefined> | undefined
  readonly receivedMs: number
}

interface Committed {
  readonly counts: Counts
  readonly changed: HistoryOutcome['changed']
  readonly position: number | undefined
}

/**
 * The live lane of one session. A bar newer than the last published bar of its series is published: before its
 * write if the collector can send it again after a crash, else after the commit. Any other bar is a revision: it
 * is stored and announced as `revised`, but never published.
 */
export class LiveIntake {
  readonly #deps: IntakeDeps
  readonly #state: FeedState
  readonly #epoch: number
  readonly #publishFirst: boolean
  /** Newest time chosen for publishing per series; the publication may follow after the commit. */
  readonly #chosen = new Map<string, FeedSeconds>()
  #lastCommitted: Promise<unknown> = Promise.resolve()
  #lastDone: Promise<unknown> = Promise.resolve()
  /** Bus position up to which readers know that the store has everything. */
  #applied = 0
  #inFlight = 0

  constructor(deps: IntakeDeps, state: FeedState, options: { epoch: number; publishFirst: boolean }) {
    this.#deps = deps
    this.#state = state
    this.#epoch = options.epoch
    this.#publishFirst = options.publishFirst
  }

  take(batch: readonly GoodSeries[], receivedMs: number): Taken {
    const { fresh, late } = this.#split(batch)
    const newestBefore = new Map(late.map(({ id }) => [id, this.#state.newest.get(id)]))
    this.#noteReceipt(batch)
    const published = this.#publishFirst ? this.#publishBars(fresh, receivedMs) : undefined
    const begin = published && this.#deps.writeDelay.pass(published, receivedMs)
    const write = this.#write(fresh, begin)
    const noteUnstored = (cause: unknown): void => {
      // A retry would fail again after a defect, and until a person has repaired the table.
      if (cause instanceof Unavailable && !(cause instanceof TableOutOfOrder)) this.#state.unstored.add(fresh)
    }
    // Bars that are published after their commit may still never become readable.
    const isPushed = published ? Promise.resolve() : write.committed
    isPushed.then(
      () => write.readable.catch(noteUnstored),
      () => undefined,
    )
    const compare = (): Promise<HistoryOutcome> =>
      storeHistory(
        late,
        (id) => newestBefore.get(id),
        this.#deps.stores.bars,
        'live',
        (changed) => this.#state.publisher.publishRevised(changed),
      )
    // A revision is not compared before the write of earlier batches has begun.
    const compared = begin ? begin.then(compare) : compare()
    return this.#finish({ fresh, write, compared, published, receivedMs })
  }

  /** Announces to readers, after all earlier batches, that all minutes in `[from, to]` are complete. */
  complete(from: FeedSeconds, to: FeedSeconds): Promise<void> {
    const event = { type: 'minutes' as const, feed: this.#state.key, from, to }
    const published = this.#lastDone.then(async () => void (await this.#publish(event)))
    this.#lastDone = published
    published.catch(() => undefined)
    return published
  }

  /** Announces that the store has everything, so that readers that lost events need not wait for more. */
  async settled(): Promise<void> {
    if (this.#inFlight > 0 || !this.#state.unstored.isEmpty) return
    await this.#publish({ type: 'settled', feed: this.#state.key })
  }

  /** `begin`: when the write starts; `undefined`: now. */
  #write(fresh: readonly GoodSeries[], begin: Promise<void> | undefined): FreshWrite {
    if (fresh.length === 0) return { committed: Promise.resolve(), readable: Promise.resolve() }
    const { promise: committed, resolve, reject } = Promise.withResolvers<void>()
    const write = (): Promise<void> => this.#deps.stores.bars.write(fresh, 'live', { onCommitted: resolve })
    const readable = begin ? begin.then(write) : write()
    readable.then(resolve, reject)
    return { committed, readable }
  }

  #finish(batch: Batch): Taken {
    const committed = this.#commit(this.#lastCommitted, batch)
    const done = this.#apply(this.#lastDone, committed, batch)
    this.#lastCommitted = committed.catch(exceptOutOfOrder)
    this.#lastDone = done.catch(exceptOutOfOrder)
    this.#inFlight += 1
    done.finally(() => (this.#inFlight -= 1)).catch(() => undefined)
    // The caller and the next batch handle the rejections.
    for (const each of [committed, done, this.#lastCommitted, this.#lastDone]) each.catch(() => undefined)
    return { committed: committed.then(({ counts }) => counts), done }
  }

  async #commit(before: Promise<unknown>, batch: Batch): Promise<Committed> {
    const { fresh, write, compared, published, receivedMs } = batch
    const [, , { changed, ...late }, early] = await allOf([before, write.committed, compared, published])
    const position = published ? early : await this.#publishBars(fresh, receivedMs)
    const accepted = fresh.reduce((sum, { bars }) => sum + barCount(bars), 0)
    return { counts: addCounts(late, { ...noCounts, accepted }), changed, position }
  }

  async #apply(before: Promise<unknown>, committed: Promise<Committed>, { write }: Batch): Promise<void> {
    const [, { changed, position }] = await allOf([before, committed, write.readable])
    await this.#state.publisher.publishRevised(changed)
    if (position === undefined || position <= this.#applied) return
    this.#applied = position
    await this.#publish({ type: 'applied', feed: this.#state.key, position })
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
      fresh.push(start === 0 ? each : { ...each, bars: sliceBars(each.bars, start, count) })
      // Bars that are published first are in `pushed` before the next batch is split.
      if (!this.#publishFirst) this.#chosen.set(each.id, feedSeconds(each.bars.time[count - 1] as number))
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

/** A batch with bars of a table out of order does not keep later batches from being acknowledged. */
function exceptOutOfOrder(cause: unknown): void {
  if (!(cause instanceof TableOutOfOrder)) throw cause
}

/** After a failure nothing of a batch may still be in flight: the next session starts when this one ended. */
async function allOf<Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [N in keyof Parts]: Awaited<Parts[N]> }> {
  await Promise.allSettled(parts)
  return Promise.all(parts)
}
