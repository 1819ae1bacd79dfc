import { type Bars, pickBars, timeAt } from '../bars/bar.ts'
import { dateOfSeconds, daySeconds, secondsOfDate } from '../clocks/calendar.ts'
import { clockStepSecondsMax, type FeedSeconds, feedSeconds, type UtcSeconds } from '../clocks/feed-clock.ts'
import { isIntraday, type Resolution } from '../feeds/resolution.ts'
import type { ClockReading } from '../registry/clock-history.ts'

/** Times of one feed and resolution in true UTC, as charting clients want them. */
export interface TrueTime {
  /**
   * Ascends with its argument, and only two months may share a time. `undefined`: the clock was put forward over this time
   * and never showed it.
   */
  readonly toUtc: (time: FeedSeconds) => UtcSeconds | undefined
  /** The greatest time on the feed's clock whose `toUtc` is at most `at`. */
  readonly latestUntil: (at: UtcSeconds) => FeedSeconds
}

/** Ascending bars with their times in true UTC, each time once; a bar that has none is left out. */
export function inTrueTime(bars: Bars, { toUtc }: TrueTime): Bars {
  const times: number[] = []
  const kept = pickBars(bars, (i) => {
    const time = toUtc(timeAt(bars, i))
    const isKept = time !== undefined && time > (times.at(-1) ?? -Infinity)
    if (isKept) times.push(time)
    return isKept
  })
  return { ...kept, time: Float64Array.from(times) }
}

/** Times from `from` on, and before `until`, on the feed's clock. */
interface Piece {
  readonly from: number
  readonly until: number
  readonly offsetSeconds: number
}

type Reading = Pick<ClockReading, 'offsetSeconds' | 'since'>

/** `history` is in the order of time, and has a reading. */
export function trueTime(history: readonly Reading[], resolution: Resolution): TrueTime {
  if (isIntraday(resolution)) return byPieces(piecesOf(history))
  const days = wholeDays(history.at(-1)?.offsetSeconds ?? 0)
  if (resolution === '1M' && days !== 0) return byMonth(days)
  return byPieces([{ from: -Infinity, until: Infinity, offsetSeconds: days * daySeconds }])
}

/** Whole days of an offset; a difference below a day is one of the time of day, and moves no date. */
const wholeDays = (offsetSeconds: number): number =>
  Math.abs(offsetSeconds) < daySeconds ? 0 : Math.round(offsetSeconds / daySeconds)

/** Brokers set their clocks at a full hour, and a measurement takes minutes. */
const hourSeconds = 3_600
const changedAt = ({ since }: Reading): number => Math.floor(since / 1_000 / hourSeconds) * hourSeconds

/**
 * One piece per reading. Where the clock was put back, a time occurred twice: it belongs to the later piece, as the
 * stored bar does. Where it was put forward, the times between two pieces never occurred.
 */
function piecesOf(history: readonly Reading[]): readonly Piece[] {
  const readings = sinceCorrection(history)
  const pieces: Piece[] = []
  let limit = Infinity
  for (let i = readings.length - 1; i >= 0; i--) {
    const reading = readings[i] as Reading
    const next = readings[i + 1]
    const from = i === 0 ? -Infinity : changedAt(reading) - reading.offsetSeconds
    const until = Math.min(limit, next ? changedAt(next) - reading.offsetSeconds : Infinity)
    if (from >= until) continue
    pieces.unshift({ from, until, offsetSeconds: reading.offsetSeconds })
    limit = from
  }
  return pieces
}

/** A greater step than a broker's clock can make corrects a wrong manifest: the readings before it were never true. */
function sinceCorrection(history: readonly Reading[]): readonly Reading[] {
  const start = history.findLastIndex(({ offsetSeconds }, i) => {
    const before = history[i - 1]
    return before !== undefined && Math.abs(offsetSeconds - before.offsetSeconds) > clockStepSecondsMax
  })
  return history.slice(Math.max(0, start))
}

function byPieces(pieces: readonly Piece[]): TrueTime {
  return {
    toUtc(time) {
      const piece = pieces.findLast(({ from }) => from <= time)
      return piece && time < piece.until ? ((time + piece.offsetSeconds) as UtcSeconds) : undefined
    },
    latestUntil(at) {
      const piece = pieces.findLast(({ from, offsetSeconds }) => from + offsetSeconds <= at)
      return feedSeconds(piece ? Math.min(piece.until - 1, at - piece.offsetSeconds) : at)
    },
  }
}

/** A day in the middle of the month that begins with the label, whatever the lengths of the months between. */
const middleSeconds = 15 * daySeconds

/** Months of a clock that is days away: the first of the month in which the middle of the labelled month is. */
function byMonth(days: number): TrueTime {
  const shift = days * daySeconds + middleSeconds
  const firstOf = (seconds: number, months = 0): number => {
    const { year, month } = dateOfSeconds(seconds)
    return secondsOfDate({ year, month: month + months, day: 1 })
  }
  return {
    toUtc: (time) => firstOf(time + shift) as UtcSeconds,
    latestUntil: (at) => feedSeconds(firstOf(at, 1) - 1 - shift),
  }
}
