import { timeAt } from '../../../../core/bars/bar.ts'
import { barTimeMax, barTimeMin } from '../../../../core/bars/bar-rules.ts'
import { bucketOpen } from '../../../../core/bars/derive.ts'
import type { Span } from '../../../../core/bars/window.ts'
import { type FeedSeconds, feedSeconds } from '../../../../core/clocks/feed-clock.ts'
import { barEnd, type Resolution } from '../../../../core/feeds/resolution.ts'
import { UnstoredSpans } from '../../../series/unstored-spans.ts'
import type { GoodLines } from './good-lines.ts'

interface RejectedTimesDeps {
  readonly resolution: Resolution
  /** "Now" on the feed's clock: no rejected line is later. `undefined` while that is unknown. */
  readonly now: () => FeedSeconds | undefined
  /** Called with each further span that no window may claim. */
  readonly onSpans?: (spans: readonly Span[]) => void
}

/**
 * Times of an export's rejected lines, which no window may claim. A line without a readable time may be any bar
 * between the accepted lines before and after it.
 */
export class RejectedTimes {
  readonly holes: UnstoredSpans
  readonly #deps: RejectedTimesDeps
  /** Time of the last accepted line. */
  #accepted: FeedSeconds | undefined
  /** Whether a line without a readable time follows it. */
  #isUnknown = false

  constructor(deps: RejectedTimesDeps) {
    this.#deps = deps
    this.holes = new UnstoredSpans(deps.resolution)
  }

  /** Takes a run of lines, in the order of the file. */
  add({ bars, lines, rejected }: Omit<GoodLines, 'tooFine'>): void {
    const unknown = rejected.filter(({ time }) => time === undefined).map(({ line }) => line)
    const spans = rejected.flatMap(({ time }) => this.#cell(time))
    let next = 0
    for (let i = 0; i < lines.length; i++) {
      const time = timeAt(bars, i)
      for (; (unknown[next] ?? Number.POSITIVE_INFINITY) < (lines[i] as number); next++)
        this.#isUnknown = true
      if (this.#isUnknown) spans.push(...this.#upTo(time))
      this.#accepted = time
      this.#isUnknown = false
    }
    if (next < unknown.length) this.#isUnknown = true
    if (spans.length === 0) return
    this.holes.addSpans(spans)
    this.#deps.onSpans?.(spans)
  }

  /** Called when the terminal has just written the end of the file: no bar there is later than now. */
  endNow(): void {
    const latest = this.#latest()
    if (this.#isUnknown && latest !== undefined) this.holes.addSpans(this.#upTo(latest))
  }

  /** The end of the bar that is forming now. */
  #latest(): FeedSeconds | undefined {
    const { now, resolution } = this.#deps
    const time = now()
    return time === undefined ? undefined : barEnd(bucketOpen(time, resolution), resolution)
  }

  /** The times between the last accepted line and the next one, or none. */
  #upTo(next: FeedSeconds): Span[] {
    const last = this.#accepted
    if (last === undefined) return []
    const to = Math.min(Math.max(last, next), this.#latest() ?? Number.POSITIVE_INFINITY)
    return [{ from: barEnd(feedSeconds(Math.min(last, next)), this.#deps.resolution), to: feedSeconds(to) }]
  }

  #cell(time: FeedSeconds | undefined): Span[] {
    if (time === undefined || time < barTimeMin || time > barTimeMax) return []
    return [{ from: time, to: barEnd(time, this.#deps.resolution) }]
  }
}
