import { type Bars, barsOf, noBars } from '../core/bars/bar.ts'
import { type Series, seriesId } from '../core/bars/series.ts'
import type { FeedSeconds } from '../core/clocks/feed-clock.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { Bus, BusEvent, Delivered, LiveBar } from '../ports/bus.ts'

/** Live bars that the store may not show yet. History lays them over the store, so that it has pushed bars at once. */
export interface Tail {
  /** Ascending, both ends inclusive. Must be called before the store is read: a bar that leaves the tail is stored. */
  bars(series: Series, from: FeedSeconds, to: FeedSeconds): Bars
  /** Bars dropped at the maximum before the store was known to show them. */
  readonly dropped: number
  close(): void
}

/** Maximum bars per feed, half an hour of 1,622 symbols in every resolution; the oldest batches are dropped. */
const tailBarsPerFeedMax = 100_000

/** Its bars are decoded when they are first used. */
interface UnsortedBatch {
  readonly position: number
  readonly event: Extract<BusEvent, { type: 'bars' }>
}

interface Batch {
  readonly position: number
  readonly bars: readonly LiveBar[]
}

interface TailBar {
  readonly position: number
  readonly live: LiveBar
}

/** Maximum batches of a feed whose bars are not sorted yet: together below the maximum of bars. */
const unsortedMax = 16

/**
 * Follows the bus. `applied` and `settled` remove bars that the store shows. Bars that the bus lost are in the store.
 * Bars are sorted at the first read: at the minute's edge most of them are stored before a client asks for them.
 */
export function createTail(bus: Bus, barsPerFeedMax: number = tailBarsPerFeedMax): Tail {
  const feeds = new Map<FeedKey, FeedTail>()
  const deliver = ({ position, event }: Delivered): void => {
    if (event.type === 'bars') {
      const tail = feeds.get(event.feed) ?? new FeedTail(barsPerFeedMax)
      feeds.set(event.feed, tail)
      tail.add({ position, event })
    } else if (event.type === 'applied') {
      feeds.get(event.feed)?.clear(event.position)
    } else if (event.type === 'settled') {
      feeds.get(event.feed)?.clear(position)
    }
  }
  const stop = bus.follow({ deliver, lost: () => undefined })
  return {
    bars: (series, from, to) => feeds.get(series.feed)?.bars(series, from, to) ?? noBars,
    get dropped() {
      return feeds.values().reduce((sum, { dropped }) => sum + dropped, 0)
    },
    close: stop,
  }
}

class FeedTail {
  dropped = 0
  readonly #countMax: number
  /** The newest batches; all others are in `#batches`. */
  #unsorted: UnsortedBatch[] = []
  #batches: Batch[] = []
  #count = 0
  readonly #series = new Map<string, TailBar[]>()

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  add(batch: UnsortedBatch): void {
    if (this.#unsorted.push(batch) > unsortedMax) this.#sort()
  }

  bars(series: Series, from: FeedSeconds, to: FeedSeconds): Bars {
    this.#sort()
    const list = this.#series.get(seriesId(series))
    if (!list) return noBars
    const within = list.flatMap(({ live: { bar } }) => (bar.time >= from && bar.time <= to ? [bar] : []))
    return within.length === 0 ? noBars : barsOf(within)
  }

  /** Removes the batches up to the position. */
  clear(position: number): void {
    this.#unsorted = this.#unsorted.filter((batch) => batch.position > position)
    const kept = this.#batches.findIndex((batch) => batch.position > position)
    const gone = this.#batches.splice(0, kept < 0 ? this.#batches.length : kept)
    // Each series once: a batch may contain hundreds of bars of one.
    const ids = new Set(gone.flatMap(({ bars }) => bars.map((live) => seriesId(live))))
    for (const id of ids) this.#remove(id, position)
    this.#count -= gone.reduce((sum, { bars }) => sum + bars.length, 0)
  }

  #sort(): void {
    for (const { position, event } of this.#unsorted.splice(0)) {
      const { bars } = event
      this.#batches.push({ position, bars })
      this.#count += bars.length
      for (const live of bars) {
        const id = seriesId(live)
        const list = this.#series.get(id) ?? []
        this.#series.set(id, list)
        insert(list, { position, live })
      }
    }
    while (this.#count > this.#countMax) this.#drop(this.#batches[0] as Batch)
  }

  #drop(oldest: Batch): void {
    this.dropped += oldest.bars.length
    this.clear(oldest.position)
  }

  #remove(id: string, position: number): void {
    const left = this.#series.get(id)?.filter((list) => list.position > position) ?? []
    if (left.length === 0) this.#series.delete(id)
    else this.#series.set(id, left)
  }
}

/** Keeps the list ascending, with each time once; of two bars with one time the greater revision stays. */
function insert(list: TailBar[], next: TailBar): void {
  let i = list.length
  while (i > 0 && (list[i - 1] as TailBar).live.bar.time > next.live.bar.time) i--
  const same = list[i - 1]
  if (same?.live.bar.time !== next.live.bar.time) list.splice(i, 0, next)
  else if (same.live.bar.revision < next.live.bar.revision) list[i - 1] = next
}
