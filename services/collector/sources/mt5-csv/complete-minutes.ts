import { type FeedSeconds, feedSeconds } from '../../../core/clocks/feed-clock.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { SourceListener } from '../../source.ts'
import type { FollowedFile } from './followed-file.ts'

/** Time to wait for the other lines of a minute after its first line was found. */
export const settleMs = 10_000

/**
 * Decides when a minute of a followed folder is complete. A folder never reports that. The first closed line of a
 * minute shows that the terminal is writing it. A scan of all files that begins after the settling time has read
 * its other lines. Without a new line no minute is complete, because a silent terminal may have stopped.
 */
export class CompleteMinutes {
  readonly #clock: Clock
  /** `to`: the end of the minute. */
  #settling: { readonly to: FeedSeconds; readonly sinceMs: number } | undefined
  #reportedTo = feedSeconds(0)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Called after each scan. `wholeSinceMs`: when the scan began; absent when it could not read all files to their ends. */
  report(files: readonly FollowedFile[], wholeSinceMs: number | undefined, listener: SourceListener): void {
    const due = this.#settling
    if (due && wholeSinceMs !== undefined && wholeSinceMs - due.sinceMs >= settleMs) {
      for (const file of files) if (file.holes.length > 0) listener.rejected(file.series, file.holes)
      // No line is ever missed: reading continues where it ended.
      listener.watched('1', { from: feedSeconds(0), to: due.to })
      this.#reportedTo = due.to
      this.#settling = undefined
    }
    const newest = files.reduce((most, { newestMinute }) => Math.max(most, newestMinute ?? 0), 0)
    const to = feedSeconds(newest === 0 ? 0 : newest + 60)
    if (!this.#settling && to > this.#reportedTo) this.#settling = { to, sinceMs: this.#clock.monotonicMs() }
  }
}
