import { type Static, Type } from 'typebox'
import type { History } from '../../../bars/history.ts'
import { type NewestBars, newestCount } from '../../../bars/newest-bars.ts'
import { type Bars, barCount, concatBars, countUntil, sliceBars, timeAt } from '../../../core/bars/bar.ts'
import type { Series } from '../../../core/bars/series.ts'
import { inTrueTime, type TrueTime } from '../../../core/charts/true-time.ts'
import { daySeconds } from '../../../core/clocks/calendar.ts'
import type { UtcSeconds } from '../../../core/clocks/feed-clock.ts'
import { Failure } from '../../../core/failure.ts'
import type { Reader } from '../../../core/fair-queue.ts'
import {
  durationSeconds,
  isIntraday,
  isResolution,
  type Resolution,
  resolutions,
} from '../../../core/feeds/resolution.ts'
import { show } from '../../../core/show.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { JsonText } from '../../answer.ts'
import { reachesPresent } from '../../chart-poll.ts'
import type { FairTurns } from '../../fair-turns.ts'
import type { Call } from '../../route.ts'
import { AnswerText, barsPerTurn } from '../history/answer-text.ts'
import { chartClock } from './chart-clock.ts'
import { chartSymbol } from './symbols.ts'

const countbackMax = 10_000
const monthSecondsMin = 28 * daySeconds

export const chartHistoryQuery = Type.Object({
  symbol: Type.String(),
  resolution: Type.String(),
  from: Type.Optional(Type.Integer({ 'x-signed': true })),
  to: Type.Integer({ 'x-signed': true }),
  countback: Type.Optional(Type.Integer({ minimum: 0, 'x-clamp-above': countbackMax })),
})

interface Deps {
  readonly history: History
  readonly newest: NewestBars
  readonly turns: FairTurns
  readonly clock: Clock
}

/** Bars before `to`: the newest `countback` of them, else those from `from` on. The last one may be running. */
export async function chartHistory(
  { symbol, resolution: wanted, from, to, countback }: Static<typeof chartHistoryQuery>,
  { key, view, deadline, reader }: Call,
  { history, newest, turns, clock }: Deps,
): Promise<JsonText | object> {
  const resolution = chartResolution(wanted)
  if (!countback && from === undefined)
    throw new Failure('INVALID_PARAMS', 'countback: got nothing, wanted countback or from')
  const found = chartSymbol(symbol, key, view)
  if (!found.feed.resolutions.includes(resolution)) return { s: 'no_data' }
  const series: Series = { feed: found.feed.key, symbol: found.symbol.symbol, resolution }
  const time = chartClock(found.feed, resolution, view)
  const hasMinutes = found.feed.resolutions.includes('1')
  const count = countback || countWithin(from ?? 0, to, resolution)
  const isToNow = !isIntraday(resolution) && reachesPresent(to, clock.utcMs())
  const bars = await barsBefore(
    { series, time, from: countback ? undefined : from, to, isToNow, count, hasMinutes, reader },
    { history, newest },
  )
  const start = countback ? 0 : countUntil(bars, (from ?? 0) - 1)
  if (start >= barCount(bars)) return noData(bars)
  return textOf(sliceBars(bars, start, barCount(bars)), async () => {
    await turns.enter(reader)
    deadline.restart()
  })
}

/** The library writes `1D`, older clients `D` or `d`. */
function chartResolution(text: string): Resolution {
  const upper = text.toUpperCase()
  const full = /^[DWM]$/.test(upper) ? `1${upper}` : upper
  if (isResolution(full)) return full
  throw new Failure(
    'INVALID_PARAMS',
    `resolution: got ${show(text)}, wanted one of ${resolutions.join(', ')}`,
  )
}

/** `nextTime` lets a client go on before a gap; without it there is nothing earlier. */
const noData = (earlier: Bars): object =>
  barCount(earlier) === 0
    ? { s: 'no_data' }
    : { s: 'no_data', nextTime: timeAt(earlier, barCount(earlier) - 1) }

/** The most bars that a window can have; one more at each end, since their times need not be on a grid. */
function countWithin(from: number, to: number, resolution: Resolution): number {
  const seconds = resolution === '1M' ? monthSecondsMin : durationSeconds[resolution]
  return Math.min(countbackMax, Math.max(0, Math.ceil((to - from) / seconds)) + 2)
}

interface Wanted {
  readonly series: Series
  readonly time: TrueTime
  /** Without countback: fewer bars than `count` suffice from here on. */
  readonly from: number | undefined
  /** Exclusive. */
  readonly to: number
  /** The bar that runs now is wanted too where its date is later than `to`: on a clock ahead of UTC the date begins earlier. */
  readonly isToNow: boolean
  readonly count: number
  readonly hasMinutes: boolean
  readonly reader: Reader
}

/** The newest bars before `to`, in true time: from memory, or from the store where memory has too few. */
async function barsBefore(
  { series, time, from = -Infinity, to, isToNow, count, hasMinutes, reader }: Wanted,
  { history, newest }: Pick<Deps, 'history' | 'newest'>,
): Promise<Bars> {
  const before = (bars: Bars): Bars => {
    const shown = inTrueTime(bars, time)
    const all = barCount(shown)
    // A client that scrolls back asks with the time of its first bar, which it has.
    const isLastWanted = isToNow && all > 0 && timeAt(shown, all - 1) > to
    const end = isLastWanted ? all : countUntil(shown, to - 1)
    return sliceBars(shown, Math.max(0, end - count), end)
  }
  const { closed, running } = await newest.of(series, hasMinutes, reader)
  const kept = before(concatBars([closed, running]))
  const isWhole = barCount(kept) > 0 && timeAt(kept, 0) <= from
  if (isWhole || barCount(kept) >= count || barCount(closed) < newestCount) return kept
  const read = await history.countback(series, count, time.latestUntil((to - 1) as UtcSeconds), reader)
  const last = barCount(read) > 0 ? timeAt(read, barCount(read) - 1) : -Infinity
  const later = countUntil(running, last)
  return before(concatBars([read, sliceBars(running, later, barCount(running))]))
}

/** Long answers are written in parts: each waits for its turn. */
async function textOf(bars: Bars, enter: () => Promise<void>): Promise<JsonText> {
  const text = new AnswerText()
  for (let at = 0; at < barCount(bars); at += barsPerTurn) {
    if (barCount(bars) > barsPerTurn) await enter()
    text.add(sliceBars(bars, at, at + barsPerTurn))
  }
  return { pieces: text.pieces() }
}
