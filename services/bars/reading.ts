import { type Bars, barCount, countUntil, sliceBars, timeAt } from '../core/bars/bar.ts'
import { barTimeMin } from '../core/bars/bar-rules.ts'
import { mergeBars } from '../core/bars/revision.ts'
import type { Series } from '../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../core/clocks/feed-clock.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { BarQuery, BarStore } from '../ports/bars.ts'
import type { Tail } from './tail.ts'

/** Maximum bars of one read of the store; a slice of a range has about as many. */
export const sliceBarsMax = 10_000

/** Reads closed bars of one stored series, merged with the live tail: of each time the greatest revision. */
export interface Reading {
  /** Ascending slices, none empty; both ends are inclusive. Each slice is read on demand. */
  range(series: Series, from: FeedSeconds, to: FeedSeconds, reader: Reader): AsyncIterable<Bars>
  /** The newest bars, at most `count`, that open at `to` or before. */
  newest(series: Series, count: number, to: FeedSeconds, reader: Reader): Promise<Bars>
}

export function createReading(store: BarStore, tail: Tail, countMax: number = sliceBarsMax): Reading {
  const read = async (query: BarQuery, reader: Reader): Promise<Bars> => {
    const bars = await store.read({ ...query, reader })
    reader.answered?.()
    return bars
  }
  return {
    async *range(series, from, to, reader) {
      let start = from
      for (;;) {
        const live = tail.bars(series, start, to)
        const take = { count: countMax, end: 'oldest' } as const
        const stored = await read({ series, from: start, to, take }, reader)
        const isLast = barCount(stored) < countMax
        const end = isLast ? to : timeAt(stored, barCount(stored) - 1)
        const slice = mergeBars(stored, sliceBars(live, 0, countUntil(live, end)))
        if (barCount(slice) > 0) yield slice
        if (isLast) return
        start = feedSeconds(end + 1)
      }
    },
    async newest(series, count, to, reader) {
      const live = tail.bars(series, barTimeMin, to)
      const take = { count, end: 'newest' } as const
      const stored = await read({ series, from: barTimeMin, to, take }, reader)
      return newestOf(mergeBars(stored, live), count)
    },
  }
}

export const newestOf = (bars: Bars, count: number): Bars =>
  barCount(bars) <= count ? bars : sliceBars(bars, barCount(bars) - count, barCount(bars))
