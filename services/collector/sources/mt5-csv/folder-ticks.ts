import { clockStepSecondsMax, type FeedSeconds } from '../../../core/clocks/feed-clock.ts'

/**
 * Decides which lines of a folder are ticks of the feed's clock. Files get their lines at different times, so a line
 * older than the newest one of the folder usually comes late. But a file whose own minutes go back was written by a
 * clock that was set back: while it repeats that time, only files that repeat it too show the time.
 */
export class FolderTicks {
  #newest: FeedSeconds | undefined
  /** The newest line that repeats time, since the newest line of the folder. */
  #repeated: FeedSeconds | undefined

  /** Whether this line is a tick. `newestOfFile`: the newest minute of its file; absent where lines may come late. */
  take(time: FeedSeconds, newestOfFile: FeedSeconds | undefined): boolean {
    if (this.#newest === undefined || time >= this.#newest) {
      this.#newest = time
      this.#repeated = undefined
      return true
    }
    const isRepeated =
      newestOfFile !== undefined && time < newestOfFile && newestOfFile - time <= clockStepSecondsMax
    if (!isRepeated || (this.#repeated !== undefined && time < this.#repeated)) return false
    this.#repeated = time
    return true
  }
}
