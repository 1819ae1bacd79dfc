import { dateOfSeconds, daySeconds, secondsOfDate } from '../clocks/calendar.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { barEnd, durationSeconds, type Resolution } from '../feeds/resolution.ts'
import { allocateBars, type Bars, barCount, copyBar, sliceBars, timeAt } from './bar.ts'
import { mergeBars } from './revision.ts'

/** 1970-01-01 was a Thursday. MetaTrader stamps weeks on their Sunday, four days earlier. */
const weekPhaseSeconds = 4 * daySeconds

/** Open of the bucket of a bar: days at 00:00, weeks on Sunday, months on the 1st, on the feed's clock. */
export function bucketOpen(time: FeedSeconds, r: Resolution): FeedSeconds {
  if (r === '1M') {
    const { year, month } = dateOfSeconds(time)
    return feedSeconds(secondsOfDate({ year, month, day: 1 }))
  }
  const size = durationSeconds[r]
  const phase = r === '1W' ? weekPhaseSeconds : 0
  return feedSeconds(Math.floor((time + phase) / size) * size - phase)
}

/** Folds M1 bars, given in ascending pieces, into the bars of a longer resolution. */
export interface Fold {
  /** Returns the buckets that a later bar of these completed. */
  push(m1: Bars): Bars
  /** Returns the last bucket, which no later bar completed; empty when nothing was pushed. */
  end(): Bars
}

/** The revision of a folded bar is the greatest of its parts. */
export function createFold(r: Resolution): Fold {
  const bucket = allocateBars(1)
  let end = Number.NEGATIVE_INFINITY

  const begin = (m1: Bars, i: number): void => {
    const open = bucketOpen(feedSeconds(m1.time[i] as number), r)
    end = barEnd(open, r)
    copyBar(m1, i, bucket, 0)
    bucket.time[0] = open
  }
  const add = (m1: Bars, i: number): void => {
    bucket.high[0] = Math.max(bucket.high[0] as number, m1.high[i] as number)
    bucket.low[0] = Math.min(bucket.low[0] as number, m1.low[i] as number)
    bucket.close[0] = m1.close[i] as number
    bucket.volume[0] = (bucket.volume[0] as number) + (m1.volume[i] as number)
    bucket.revision[0] = Math.max(bucket.revision[0] as number, m1.revision[i] as number)
  }
  return {
    push(m1) {
      const completed = allocateBars(countBuckets(m1, r, end))
      let out = 0
      for (let i = 0; i < barCount(m1); i++) {
        if ((m1.time[i] as number) < end) {
          add(m1, i)
          continue
        }
        if (end !== Number.NEGATIVE_INFINITY) copyBar(bucket, 0, completed, out++)
        begin(m1, i)
      }
      return completed
    },
    end() {
      const last = allocateBars(end === Number.NEGATIVE_INFINITY ? 0 : 1)
      if (barCount(last) === 1) copyBar(bucket, 0, last, 0)
      end = Number.NEGATIVE_INFINITY
      return last
    },
  }
}

/** The number of buckets that these bars complete, when the open one ends at `end`. */
function countBuckets(m1: Bars, r: Resolution, end: number): number {
  let completed = end === Number.NEGATIVE_INFINITY ? -1 : 0
  for (let i = 0, until = end; i < barCount(m1); i++) {
    const time = feedSeconds(m1.time[i] as number)
    if (time < until) continue
    until = barEnd(bucketOpen(time, r), r)
    completed++
  }
  return Math.max(0, completed)
}

export interface FoldOptions {
  readonly isClosed: (open: FeedSeconds) => boolean
  /** Time of the first stored M1 bar of the series. A bucket that begins before it would be incomplete. */
  readonly firstStored: FeedSeconds | undefined
}

/** Folds ascending M1 bars into closed, complete buckets. */
export function foldBars(m1: Bars, r: Resolution, { isClosed, firstStored }: FoldOptions): Bars {
  const fold = createFold(r)
  const all = mergeBars(fold.push(m1), fold.end())
  let start = 0
  let end = barCount(all)
  while (start < end && firstStored !== undefined && timeAt(all, start) < firstStored) start++
  while (start < end && !isClosed(timeAt(all, end - 1))) end--
  return sliceBars(all, start, end)
}
