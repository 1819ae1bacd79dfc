import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SourceListener } from '../source.ts'
import type { FollowedFile } from './followed-file.ts'

/** So long after the first line of a minute, or of a later one, was found, nothing more is expected of that minute. */
export const settleMs = 10_000

interface Settling {
  /** The end of the minute. */
  readonly to: FeedSeconds
  readonly sinceMs: number
}

/**
 * When a minute of a followed folder is complete. A folder never says so: the first closed line of a minute shows that
 * the terminal writes that minute, and a round through all files that begins after the settling time has read
 * what else it wrote. Without a new line no minute is complete, since a silent terminal may have ended.
 */
export class CompleteMinutes {
  readonly #clock: Clock
  #settling: Settling | undefined
  #reportedTo = feedSeconds(0)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** After each round: `wholeSinceMs` is when it began, absent when it could not read all files to their ends. */
  report(files: readonly FollowedFile[], wholeSinceMs: number | undefined, listener: SourceListener): void {
    const due = this.#settling
    if (due && wholeSinceMs !== undefined && wholeSinceMs - due.sinceMs >= settleMs) {
      for (const file of files) if (file.holes.length > 0) listener.leftOut(file.options.series, file.holes)
      // Nothing that was written is ever missed: files are read on from where reading ended.
      listener.watched('1', { from: feedSeconds(0), to: due.to })
      this.#reportedTo = due.to
      this.#settling = undefined
    }
    const newest = files.reduce((most, { newestMinute }) => Math.max(most, newestMinute ?? 0), 0)
    const to = feedSeconds(newest === 0 ? 0 : newest + 60)
    if (!this.#settling && to > this.#reportedTo) this.#settling = { to, sinceMs: this.#clock.monotonicMs() }
  }
}
