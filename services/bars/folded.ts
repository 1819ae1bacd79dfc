import { type Bars, barCount, concatBars, countUntil, noBars, sliceBars, timeAt } from '../core/bars/bar.ts'
import { barTimeMax } from '../core/bars/bar-rules.ts'
import { bucketOpen, createFold, foldBars } from '../core/bars/derive.ts'
import type { Series } from '../core/bars/series.ts'
import { type FeedSeconds, feedSeconds } from '../core/clocks/feed-clock.ts'
import type { Reader } from '../core/fair-queue.ts'
import { durationSeconds } from '../core/feeds/resolution.ts'
import { newestOf, type Reading, sliceBarsMax } from './reading.ts'

/** Time for the last minute of a bucket to arrive after the bucket's end; then time alone closes the bucket. */
const arrivalSeconds = 5

const bucketSeconds = durationSeconds['30']
const minuteSeconds = durationSeconds['1']
const barsPerBucket = bucketSeconds / minuteSeconds
const lastSecondOf = (open: FeedSeconds): FeedSeconds => feedSeconds(open + bucketSeconds - 1)

export interface FoldContext {
  readonly reader: Reader
  /** The current time on the feed's clock; `undefined` if it is unknown. */
  readonly now: FeedSeconds | undefined
  readonly delaySeconds: number
}

/**
 * Folds resolution `30`, which is never stored, from M1 with the tail and the revisions. A bucket is returned
 * once it is closed: its last minute or a later minute exists, or the time for late minutes is over. The
 * oldest bucket is left out if M1 begins inside it.
 */
export function createFolded(m1: Reading, countMax: number = sliceBarsMax) {
  async function* range(series: Series, from: FeedSeconds, to: FeedSeconds, context: FoldContext) {
    const minutes: Series = { ...series, resolution: '1' }
    const first = bucketOpen(feedSeconds(from + bucketSeconds - 1), '30')
    const fold = createFold('30')
    let half: FeedSeconds | undefined
    let read: FeedSeconds | undefined
    for await (const slice of m1.range(minutes, first, lastSecondOf(bucketOpen(to, '30')), context.reader)) {
      if (read === undefined) half = await halfBucket(minutes, timeAt(slice, 0), context.reader)
      read = newestTime(slice)
      const whole = without(half, fold.push(slice))
      if (barCount(whole) > 0) yield whole
    }
    if (read === undefined) return
    const last = without(half, fold.end())
    if (barCount(last) > 0 && (await closes(minutes, read, context))) yield last
  }

  async function newest(series: Series, count: number, to: FeedSeconds, context: FoldContext): Promise<Bars> {
    const minutes: Series = { ...series, resolution: '1' }
    const found: Bars[] = []
    let total = 0
    let end = lastSecondOf(bucketOpen(to, '30'))
    while (total < count) {
      const wanted = Math.min(countMax, (count - total + 2) * barsPerBucket)
      const slice = await m1.newest(minutes, wanted, end, context.reader)
      if (barCount(slice) === 0) break
      const isOldest = barCount(slice) < wanted
      const oldestOpen = bucketOpen(timeAt(slice, 0), '30')
      const bars = await foldWhole(minutes, isOldest ? slice : after(slice, lastSecondOf(oldestOpen)), {
        ...(isOldest && { firstStored: timeAt(slice, 0) }),
        // Only the newest bucket may still be open.
        ...(found.length === 0 && { context }),
      })
      found.unshift(bars)
      total += barCount(bars)
      if (isOldest) break
      // The bucket in which a full slice began is read again as a whole.
      end = lastSecondOf(oldestOpen)
    }
    return newestOf(concatBars(found), count)
  }

  async function foldWhole(
    minutes: Series,
    bars: Bars,
    { firstStored, context }: { firstStored?: FeedSeconds; context?: FoldContext },
  ): Promise<Bars> {
    if (barCount(bars) === 0) return noBars
    const read = newestTime(bars)
    const last = bucketOpen(read, '30')
    const lastCloses = context === undefined || (await closes(minutes, read, context))
    return foldBars(bars, '30', { isClosed: (open) => open !== last || lastCloses, firstStored })
  }

  /** The bucket of the first bar, if M1 begins inside it. */
  async function halfBucket(
    minutes: Series,
    first: FeedSeconds,
    reader: Reader,
  ): Promise<FeedSeconds | undefined> {
    const open = bucketOpen(first, '30')
    if (first === open) return undefined
    const before = await m1.newest(minutes, 1, feedSeconds(open - 1), reader)
    return barCount(before) === 0 ? open : undefined
  }

  /** Whether the bucket of `read`, the newest minute that was folded, is closed. */
  async function closes(minutes: Series, read: FeedSeconds, context: FoldContext): Promise<boolean> {
    const { now, delaySeconds, reader } = context
    const end = lastSecondOf(bucketOpen(read, '30'))
    if (read + minuteSeconds > end) return true
    if (now !== undefined && now > end + delaySeconds + arrivalSeconds) return true
    const last = await m1.newest(minutes, 1, barTimeMax, reader)
    return barCount(last) > 0 && timeAt(last, 0) > end
  }

  return { range, newest }
}

const newestTime = (bars: Bars): FeedSeconds => timeAt(bars, barCount(bars) - 1)

const without = (half: FeedSeconds | undefined, bars: Bars): Bars =>
  half !== undefined && barCount(bars) > 0 && timeAt(bars, 0) === half
    ? sliceBars(bars, 1, barCount(bars))
    : bars

const after = (bars: Bars, time: FeedSeconds): Bars => sliceBars(bars, countUntil(bars, time), barCount(bars))
