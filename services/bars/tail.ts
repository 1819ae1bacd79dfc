import { type Bars, barsOf, noBars } from '../core/bars/bar.ts'
import { type Series, seriesId } from '../core/bars/series.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import type { Bus, Delivered, LiveBar } from '../ports/bus.ts'

/** Live bars that the store may not show yet. History merges them with stored bars, to show them immediately. */
export interface Tail {
  /** Ascending, both ends inclusive. Must be called before the store is read: a bar that leaves the tail is stored. */
  bars(series: Series, from: FeedSeconds, to: FeedSeconds): Bars
  /** Bars dropped at the maximum before the store was known to show them. */
  readonly dropped: number
  close(): void
}

/** Maximum bars per feed, half an hour of 1,622 symbols in every resolution; the oldest batches are dropped. */
const tailBarsPerFeedMax = 100_000

interface Batch {
  readonly position: number
  readonly bars: readonly LiveBar[]
}

interface TailBar {
  readonly position: number
  readonly live: LiveBar
}

/** Maximum bars of a feed that are not sorted yet: more of them would delay the read that sorts them. */
const unsortedBarsMax = 5_000

/**
 * Follows the bus. Its events `applied`, `tableApplied` and `settled` remove bars that the store shows. The store has
 * the bars of lost events. A read sorts the bars that came since the last read: most bars are stored before
 * they are read.
 */
export function createTail(bus: Bus, barsPerFeedMax: number = tailBarsPerFeedMax): Tail {
  const feeds = new Map<FeedKey, Map<Resolution, TableTail>>()
  let dropped = 0
  const addBars = (feed: FeedKey, position: number, all: readonly LiveBar[]): void => {
    const tables = feeds.get(feed) ?? new Map<Resolution, TableTail>()
    feeds.set(feed, tables)
    for (const [resolution, bars] of Map.groupBy(all, (live) => live.resolution)) {
      const table = tables.get(resolution) ?? new TableTail()
      tables.set(resolution, table)
      table.add({ position, bars })
    }
    dropped += shorten([...tables.values()], barsPerFeedMax)
  }
  const deliver = ({ position, event }: Delivered): void => {
    if (event.type === 'bars') addBars(event.feed, position, event.bars)
    else if (event.type === 'applied') feeds.get(event.feed)?.get('1')?.clear(event.position)
    else if (event.type === 'tableApplied')
      feeds.get(event.feed)?.get(event.resolution)?.clear(event.position)
    else if (event.type === 'settled') feeds.get(event.feed)?.get('1')?.clear(position)
  }
  const stop = bus.follow({ deliver, lost: () => undefined })
  return {
    bars: (series, from, to) =>
      feeds.get(series.feed)?.get(series.resolution)?.bars(series, from, to) ?? noBars,
    get dropped() {
      return dropped
    },
    close: stop,
  }
}

/** Drops the oldest batches of a feed's tables while they have more bars than the maximum. Returns how many it dropped. */
function shorten(tables: readonly TableTail[], countMax: number): number {
  const excess = tables.reduce((sum, { count }) => sum + count, 0) - countMax
  let dropped = 0
  while (excess > dropped) {
    const oldest = Math.min(...tables.map((table) => table.oldest ?? Number.POSITIVE_INFINITY))
    for (const table of tables) dropped += table.clear(oldest)
  }
  return dropped
}

class TableTail {
  /** Batches whose bars are in `#series`, ascending by position. */
  readonly #sorted: Batch[] = []
  /** All later batches. */
  readonly #unsorted: Batch[] = []
  #count = 0
  #unsortedCount = 0
  readonly #series = new Map<string, TailBar[]>()

  add(batch: Batch): void {
    this.#unsorted.push(batch)
    this.#count += batch.bars.length
    this.#unsortedCount += batch.bars.length
    if (this.#unsortedCount > unsortedBarsMax) this.#sort()
  }

  bars(series: Series, from: FeedSeconds, to: FeedSeconds): Bars {
    this.#sort()
    const list = this.#series.get(seriesId(series))
    if (!list) return noBars
    const within = list.flatMap(({ live: { bar } }) => (bar.time >= from && bar.time <= to ? [bar] : []))
    return within.length === 0 ? noBars : barsOf(within)
  }

  /** Removes the batches up to the position, and returns how many bars they had. */
  clear(position: number): number {
    const sorted = takeUpTo(this.#sorted, position)
    // Each series once: a batch may contain hundreds of bars of one.
    const ids = new Set(sorted.flatMap(({ bars }) => bars.map((live) => seriesId(live))))
    for (const id of ids) this.#remove(id, position)
    const unsortedCount = barsIn(takeUpTo(this.#unsorted, position))
    this.#unsortedCount -= unsortedCount
    const count = barsIn(sorted) + unsortedCount
    this.#count -= count
    return count
  }

  get count(): number {
    return this.#count
  }

  get oldest(): number | undefined {
    return (this.#sorted[0] ?? this.#unsorted[0])?.position
  }

  #sort(): void {
    for (const { position, bars } of this.#unsorted) {
      for (const live of bars) {
        const id = seriesId(live)
        const list = this.#series.get(id) ?? []
        this.#series.set(id, list)
        insert(list, { position, live })
      }
    }
    this.#sorted.push(...this.#unsorted.splice(0))
    this.#unsortedCount = 0
  }

  #remove(id: string, position: number): void {
    const left = this.#series.get(id)?.filter((list) => list.position > position) ?? []
    if (left.length === 0) this.#series.delete(id)
    else this.#series.set(id, left)
  }
}

/** Removes and returns the batches up to the position from a list that ascends. */
function takeUpTo(batches: Batch[], position: number): Batch[] {
  const kept = batches.findIndex((batch) => batch.position > position)
  return batches.splice(0, kept < 0 ? batches.length : kept)
}

const barsIn = (batches: readonly Batch[]): number => batches.reduce((sum, { bars }) => sum + bars.length, 0)

/**
 * Keeps the list ascending, with each time once. Of two bars with one time the greater revision stays. It gets
 * the later position, because the earlier one may be confirmed before the store shows either bar.
 */
function insert(list: TailBar[], next: TailBar): void {
  let i = list.length
  while (i > 0 && (list[i - 1] as TailBar).live.bar.time > next.live.bar.time) i--
  const same = list[i - 1]
  if (same?.live.bar.time !== next.live.bar.time) list.splice(i, 0, next)
  else list[i - 1] = { position: next.position, live: greaterRevision(same.live, next.live) }
}

const greaterRevision = (earlier: LiveBar, later: LiveBar): LiveBar =>
  later.bar.revision >= earlier.bar.revision ? later : earlier
