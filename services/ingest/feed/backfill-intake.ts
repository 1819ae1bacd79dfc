import { barCount } from '../../core/bars/bar.ts'
import type { Span } from '../../core/bars/window.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Clock } from '../../ports/clock.ts'
import { batchBarsMax } from '../../wire/limits.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import type { FeedState } from './feed-state.ts'
import { type Changed, type Counts, ends, storeHistory } from './store-history.ts'

/** Maximum bars of one session that are stored at the same time: two batches of an import. */
const barsAtOnceMax = 2 * batchBarsMax

/** The open times of a batch, first and last, by `seriesId`. */
type Extent = ReadonlyMap<string, Span>

export interface BackfillDeps {
  readonly store: BarStore
  readonly clock: Clock
  /** Aborts with the session: then no batch that waits is stored. */
  readonly signal: AbortSignal
}

/**
 * The backfill lane of one session: compares batches with the stored bars and stores what differs. Batches with at
 * most `barsAtOnceMax` bars in all are stored at the same time: a few sessions must not fill the store's queue. A batch
 * that overlaps an earlier one waits for it, since it is compared with what that one stored.
 */
export class BackfillIntake {
  readonly #deps: BackfillDeps
  readonly #state: FeedState
  /** Batches in flight, in order of receipt. */
  readonly #inFlight = new Map<Promise<Counts>, Extent>()
  readonly #bars: Semaphore

  constructor(deps: BackfillDeps, state: FeedState) {
    this.#deps = deps
    this.#state = state
    this.#bars = new Semaphore(barsAtOnceMax, deps.signal)
  }

  /** Resolves after the commit and the events after it. `turn`: the batch is not stored before. */
  take(batch: readonly GoodSeries[], turn: Promise<void> = Promise.resolve()): Promise<Counts> {
    const extent: Extent = new Map(batch.map(({ id, bars }) => [id, ends(bars)]))
    const earlier = [...this.#inFlight].flatMap(([done, other]) => (overlap(extent, other) ? [done] : []))
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    for (const [id, { to }] of extent) this.#state.accept(id, to)
    const done = this.#storeAfter([turn, ...earlier], batch, newestBefore)
    this.#inFlight.set(done, extent)
    done.finally(() => this.#inFlight.delete(done)).catch(() => undefined)
    return done
  }

  async #storeAfter(
    earlier: readonly Promise<unknown>[],
    batch: readonly GoodSeries[],
    newestBefore: ReadonlyMap<string, FeedSeconds | undefined>,
  ): Promise<Counts> {
    await Promise.all(earlier)
    const count = batch.reduce((sum, { bars }) => sum + barCount(bars), 0)
    await this.#bars.enter(count)
    const announce = (ranges: readonly Changed[]): Promise<void> =>
      this.#state.publisher.publishRevised(ranges)
    try {
      const { changed, ...counts } = await storeHistory(batch, (id) => newestBefore.get(id), {
        ...this.#deps,
        lane: 'backfill',
        announce,
      })
      await announce(changed)
      return counts
    } finally {
      this.#bars.leave(count)
    }
  }
}

const overlap = (a: Extent, b: Extent): boolean =>
  [...a].some(([id, { from, to }]) => {
    const other = b.get(id)
    return other !== undefined && from <= other.to && to >= other.from
  })
