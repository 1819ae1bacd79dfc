import { type Bars, barAt, barCount, type RevisedBar } from '../bars/bar.ts'
import { bucketOpen } from '../bars/derive.ts'
import { type FeedSeconds, feedSeconds } from '../clocks/feed-clock.ts'
import { durationSeconds, type Resolution } from '../feeds/resolution.ts'

/**
 * The open of the bar that a minute belongs to. A broker decides at which minute its longer bars open, so they follow
 * the newest closed one, `last`.
 */
export function runningOpen(minute: FeedSeconds, r: Resolution, last: FeedSeconds | undefined): FeedSeconds {
  if (r === '1M' || last === undefined) return bucketOpen(minute, r)
  const size = durationSeconds[r]
  return feedSeconds(last + Math.floor((minute - last) / size) * size)
}

/** Adds closed minutes, ascending, to the bars that are folded so far; a minute may begin a further bar. */
export function foldMinutes(
  folded: readonly RevisedBar[],
  minutes: Bars,
  openOf: (minute: FeedSeconds) => FeedSeconds,
): RevisedBar[] {
  const all = [...folded]
  for (let i = 0; i < barCount(minutes); i++) {
    const minute = barAt(minutes, i)
    const time = openOf(minute.time)
    const running = all.at(-1)
    if (running?.time === time) all[all.length - 1] = extended(running, minute)
    else all.push({ ...minute, time })
  }
  return all
}

const extended = (bar: RevisedBar, minute: RevisedBar): RevisedBar => ({
  time: bar.time,
  open: bar.open,
  high: Math.max(bar.high, minute.high),
  low: Math.min(bar.low, minute.low),
  close: minute.close,
  volume: bar.volume + minute.volume,
  revision: Math.max(bar.revision, minute.revision),
})
