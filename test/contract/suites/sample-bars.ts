import fc from 'fast-check'
import { barsOf, type RevisedBar, toList } from '../../../services/core/bars/bar.ts'
import type { Lane, Series, SeriesBars } from '../../../services/core/bars/series.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import { compoundKey, feedKey } from '../../../services/core/feeds/compound-key.ts'
import type { Resolution } from '../../../services/core/feeds/resolution.ts'
import type { BarQuery, BarStore } from '../../../services/ports/bars.ts'
import { freshName } from './opened.ts'

export const start = 1_700_000_040
export const always = { from: feedSeconds(-(2 ** 40)), to: feedSeconds(2 ** 40) }
const feed = feedKey('BROKERA', 'ZERO')

/** A series that no other test uses, in a feed that all tests share. */
export const freshSeries = (resolution: Resolution = '1'): Series => seriesOf(freshName('SYM'), resolution)
export const seriesOf = (name: string, resolution: Resolution = '1', of = feed): Series => ({
  feed: of,
  symbol: compoundKey(of, name),
  resolution,
})
export const freshFeed = () => feedKey('BROKERB', freshName('ACC'))

/** A bar whose numbers are all computed from the minute and the revision. */
export const minuteBar = (minute: number, revision = 1): RevisedBar => {
  const low = 1 + minute / 7 + revision / 1_000
  return {
    time: feedSeconds(start + minute * 60),
    open: low + 0.1,
    high: low + 0.3,
    low,
    close: low + 0.2,
    volume: minute + revision,
    revision,
  }
}

export const minuteBars = (from: number, to: number, revision = 1): RevisedBar[] =>
  Array.from({ length: to - from }, (_, i) => minuteBar(from + i, revision))

export const batchOf = (series: Series, list: readonly RevisedBar[]): SeriesBars => ({
  series,
  bars: barsOf(list),
})

export async function readList(store: BarStore, series: Series, query: Partial<BarQuery> = {}) {
  return toList(await store.read({ series, ...always, ...query }))
}

/**
 * A write. `committed` resolves at its commit, or at its end in a store that does not report commits. `whole` resolves
 * when its bars are readable.
 */
export function startWrite(
  store: Pick<BarStore, 'write'>,
  batch: SeriesBars,
  lane: Lane,
): { readonly committed: Promise<void>; readonly whole: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  const whole = store.write([batch], lane, { onCommitted: resolve })
  return { committed: Promise.race([promise, whole]), whole }
}

/** The simplest model of the bars of a series. */
export class BarModel {
  readonly #bars = new Map<number, RevisedBar>()

  write(list: readonly RevisedBar[]): void {
    for (const bar of list) {
      const known = this.#bars.get(bar.time)
      if (!known || bar.revision > known.revision) this.#bars.set(bar.time, bar)
    }
  }

  read({ from, to, take }: Pick<BarQuery, 'from' | 'to' | 'take'> = always): RevisedBar[] {
    const all = [...this.#bars.values()].sort((a, b) => a.time - b.time)
    const within = all.filter(({ time }) => time >= from && time <= to)
    if (take === undefined) return within
    return take.end === 'oldest' ? within.slice(0, take.count) : within.slice(-take.count)
  }
}

const anyMinute = fc.integer({ min: 0, max: 40 })
export const anyBar = fc.record({ minute: anyMinute, revision: fc.integer({ min: 0, max: 5 }) })
export const anyLane = fc.constantFrom('live' as const, 'backfill' as const)
/** A time near the sample minutes: at the open of a minute, or some seconds beside it. */
const anyTime = fc
  .record({ minute: fc.integer({ min: -1, max: 41 }), beside: fc.constantFrom(0, 0, -1, 1, 30) })
  .map(({ minute, beside }) => feedSeconds(start + minute * 60 + beside))

export const anyQuery = fc.record({
  from: anyTime,
  to: anyTime,
  take: fc.option(
    fc.record({
      count: fc.integer({ min: 1, max: 45 }),
      end: fc.constantFrom('oldest' as const, 'newest' as const),
    }),
    { nil: undefined },
  ),
})
