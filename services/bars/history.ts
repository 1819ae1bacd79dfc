import { type Bars, barCount } from '../core/bars/bar.ts'
import { barTimeMax, barTimeMin } from '../core/bars/bar-rules.ts'
import type { Series } from '../core/bars/series.ts'
import { type FeedSeconds, feedNow, feedSeconds } from '../core/clocks/feed-clock.ts'
import { Unavailable } from '../core/failure.ts'
import type { Reader } from '../core/fair-queue.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import { knownOffset } from '../core/registry/clock-history.ts'
import type { RegistryView } from '../core/registry/registry.ts'
import type { BarStore } from '../ports/bars.ts'
import type { Clock } from '../ports/clock.ts'
import type { FeedBoard } from '../ports/feed-board.ts'
import { createFolded, type FoldContext } from './folded.ts'
import { createReading, sliceBarsMax } from './reading.ts'
import type { Tail } from './tail.ts'

/** Reads bars of all resolutions. Without the store each call fails with `Unavailable`; empty: it has no bars. */
export interface History {
  /** Ascending slices, none empty. Both ends are inclusive and compared with bar open times. */
  range(series: Series, from: FeedSeconds, to: FeedSeconds, reader: Reader): AsyncIterable<Bars>
  /**
   * The newest `count` bars that open at `to` or before; without `to`, at the feed's current time or before. With a
   * measured clock, a call without `to` has no upper limit: for minutes after the broker's clock changed, the
   * known offset is wrong.
   */
  countback(series: Series, count: number, to: FeedSeconds | undefined, reader: Reader): Promise<Bars>
}

export interface HistoryDeps {
  readonly bars: BarStore
  readonly tail: Tail
  readonly registry: { view(): RegistryView }
  /** Source of the newest tick of a feed whose clock is unknown. */
  readonly board: FeedBoard
  readonly clock: Clock
}

/** The current time on the feed's clock; `undefined` if it is unknown, or if its newest tick cannot be read now. */
interface Moment {
  readonly now: FeedSeconds | undefined
  /** Why the newest tick cannot be read. An empty answer may then lack a closed half hour. */
  readonly failure?: Unavailable
}

export function createHistory(deps: HistoryDeps, countMax: number = sliceBarsMax): History {
  const stored = createReading(deps.bars, deps.tail, countMax)
  const folded = createFolded(stored, countMax)

  const knownNow = (feed: FeedKey): FeedSeconds | undefined => {
    const view = deps.registry.view()
    const definition = view.feed(feed)
    const offset = definition && knownOffset(definition, view)
    return offset === undefined ? undefined : feedNow(deps.clock.utcMs(), offset, undefined)
  }
  const momentOf = async (feed: FeedKey): Promise<Moment> => {
    const now = knownNow(feed)
    if (now !== undefined) return { now }
    try {
      return { now: (await deps.board.read([feed])).get(feed)?.newestTick }
    } catch (cause) {
      if (cause instanceof Unavailable) return { now: undefined, failure: cause }
      throw cause
    }
  }
  const contextOf = async (series: Series, reader: Reader): Promise<FoldContext & Moment> => ({
    ...(await momentOf(series.feed)),
    reader,
    delaySeconds: deps.registry.view().symbol(series.symbol)?.delaySeconds ?? 0,
  })

  /** The end of `countback` without `to`. With a clock that is measured or unknown, no bar is later. */
  const newestEnd = (feed: FeedKey): FeedSeconds => {
    const isMeasured = deps.registry.view().feed(feed)?.clock.mode === 'Measured'
    return (isMeasured ? undefined : knownNow(feed)) ?? feedSeconds(barTimeMax)
  }

  return {
    async *range(series, from, to, reader) {
      const [first, last] = [notBefore(from), notAfter(to)]
      if (series.resolution !== '30') {
        yield* stored.range(series, first, last, reader)
        return
      }
      const context = await contextOf(series, reader)
      let isEmpty = true
      for await (const bars of folded.range(series, first, last, context)) {
        isEmpty = false
        yield bars
      }
      if (isEmpty && context.failure) throw context.failure
    },
    async countback(series, count, to, reader) {
      const end = notAfter(to ?? newestEnd(series.feed))
      if (series.resolution !== '30') return stored.newest(series, count, end, reader)
      const context = await contextOf(series, reader)
      const bars = await folded.newest(series, count, end, context)
      if (barCount(bars) === 0 && context.failure) throw context.failure
      return bars
    },
  }
}

const notBefore = (time: FeedSeconds): FeedSeconds => feedSeconds(Math.max(barTimeMin, time))
const notAfter = (time: FeedSeconds): FeedSeconds => feedSeconds(Math.min(barTimeMax, time))
