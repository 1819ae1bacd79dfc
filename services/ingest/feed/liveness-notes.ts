import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { FeedBoard, FeedSigns } from '../../ports/feed-board.ts'

/** Signs of life on their way to the feed board: nobody waits for them, and the next ones say it again. */
export class LivenessNotes {
  readonly #board: Pick<FeedBoard, 'note'>
  readonly #log: Log
  #isAway = false

  constructor(board: Pick<FeedBoard, 'note'>, log: Log) {
    this.#board = board
    this.#log = log
  }

  /** Once per outage it is said that there is one: there are signs with every bar and heartbeat of every feed. */
  note(feed: FeedKey, signs: FeedSigns): void {
    this.#board.note(feed, signs).then(
      () => {
        this.#isAway = false
      },
      (cause: unknown) => {
        if (!this.#isAway) this.#log.warn({ err: cause }, 'the feed board takes no signs of life; going on')
        this.#isAway = true
      },
    )
  }
}
