import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { FeedBoard, FeedSigns } from '../../ports/feed-board.ts'

/** Sends liveness reports to the feed board without waiting; the next report replaces a lost one. */
export class LivenessNotes {
  readonly #board: Pick<FeedBoard, 'note'>
  readonly #log: Log
  #isUnavailable = false

  constructor(board: Pick<FeedBoard, 'note'>, log: Log) {
    this.#board = board
    this.#log = log
  }

  /** Logs once per outage: every bar and heartbeat of every feed makes a report. */
  note(feed: FeedKey, signs: FeedSigns): void {
    this.#board.note(feed, signs).then(
      () => {
        this.#isUnavailable = false
      },
      (cause: unknown) => {
        if (!this.#isUnavailable)
          this.#log.warn({ err: cause }, 'feed board unavailable; feed liveness may be stale')
        this.#isUnavailable = true
      },
    )
  }
}
