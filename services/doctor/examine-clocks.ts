import { type FeedSeconds, feedNow, type UtcMs } from '../core/clocks/feed-clock.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { Resolution } from '../core/feeds/resolution.ts'
import { type Finding, passed, problem, warning } from './finding.ts'

/** Maximum seconds of a bar ahead of its feed's clock: only closed bars are stored, and clocks differ a little. */
const aheadSecondsMax = 300
/** Longer than any holiday. A newest minute further behind shows that the feed has no collector, or another clock. */
const behindSecondsMax = 10 * 86_400

/** The newest bar in one part of the store, such as a table, with bars of one feed and resolution. */
export interface NewestStored {
  readonly where: string
  readonly feed: FeedDefinition
  /** Measured or fixed; `undefined`: unknown. */
  readonly offsetSeconds: number | undefined
  readonly resolution: Resolution
  readonly time: FeedSeconds
}

/** Compares the newest bars with the clocks of their feeds; unknown clocks are skipped. */
export function examineClocks(newest: readonly NewestStored[], now: UtcMs): readonly Finding[] {
  const findings: Finding[] = []
  let unknown = 0
  for (const stored of newest) {
    const feedTime = feedNow(now, stored.offsetSeconds, undefined)
    if (feedTime === undefined) unknown++
    else findings.push(...judge(stored, stored.time - feedTime))
  }
  if (findings.length > 0) return findings
  const agree = `${newest.length - unknown} of ${newest.length} newest bars agree with the clocks of their feeds`
  return [passed('clocks', unknown === 0 ? agree : `${agree}; the clocks of the others are unknown`)]
}

function judge({ where, feed, resolution }: NewestStored, aheadSeconds: number): readonly Finding[] {
  if (aheadSeconds > aheadSecondsMax)
    return [
      problem(
        'clock',
        `the newest bar of ${where} is ${inWords(aheadSeconds)} ahead of the clock of ${feed.key}`,
        `check spec.clock of the Feed ${feed.name} (utc = bar time + offsetSeconds) and the clock of this machine`,
      ),
    ]
  if (resolution === '1' && aheadSeconds < -behindSecondsMax)
    return [
      warning(
        'clock',
        `the newest bar of ${where} is ${inWords(-aheadSeconds)} behind the clock of ${feed.key}`,
        `check the collector of ${feed.key}, and spec.clock of the Feed ${feed.name}`,
      ),
    ]
  return []
}

function inWords(seconds: number): string {
  if (seconds >= 2 * 86_400) return `${Math.round(seconds / 86_400)} days`
  return seconds >= 7_200 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 60)} minutes`
}
