import { barCount } from '../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { GoodSeries } from '../check/check-batch.ts'
import type { FeedState } from './feed-state.ts'
import { type Counts, storeHistory } from './store-history.ts'

/** The open times of a batch, first and last, by `seriesId`. */
type Extent = ReadonlyMap<string, { readonly first: FeedSeconds; readonly last: FeedSeconds }>

/**
 * The backfill lane of one session: compares batches with the stored bars and stores what differs. Batches are stored
 * at the same time, except those that overlap: each of them is compared with what the earlier one stored.
 */
export class BackfillIntake {
  readonly #store: BarStore
  readonly #state: FeedState
  /** Batches in flight, in order of receipt. */
  readonly #inFlight = new Map<Promise<Counts>, Extent>()

  constructor(store: BarStore, state: FeedState) {
    this.#store = store
    this.#state = state
  }

  /** Resolves after the commit and the events after it. */
  take(batch: readonly GoodSeries[]): Promise<Counts> {
    const extent: Extent = new Map(batch.map((each) => [each.id, extentOf(each)]))
    const earlier = [...this.#inFlight].flatMap(([done, other]) => (overlap(extent, other) ? [done] : []))
    const newestBefore = new Map(batch.map(({ id }) => [id, this.#state.newest.get(id)]))
    for (const [id, { last }] of extent) this.#state.accept(id, last)
    const done = Promise.all(earlier).then(() => this.#storeBatch(batch, newestBefore))
    this.#inFlight.set(done, extent)
    done.finally(() => this.#inFlight.delete(done)).catch(() => undefined)
    return done
  }

  async #storeBatch(
    batch: readonly GoodSeries[],
    newestBefore: ReadonlyMap<string, FeedSeconds | undefined>,
  ): Promise<Counts> {
    const { changed, ...counts } = await storeHistory(
      batch,
      (id) => newestBefore.get(id),
      this.#store,
      'backfill',
    )
    await this.#state.publisher.publishRevised(changed)
    return counts
  }
}

const extentOf = ({ bars }: GoodSeries): { first: FeedSeconds; last: FeedSeconds } => ({
  first: feedSeconds(bars.time[0] as number),
  last: feedSeconds(bars.time[barCount(bars) - 1] as number),
})

const overlap = (a: Extent, b: Extent): boolean =>
  [...a].some(([id, { first, last }]) => {
    const other = b.get(id)
    return other !== undefined && first <= other.last && last >= other.first
  })
