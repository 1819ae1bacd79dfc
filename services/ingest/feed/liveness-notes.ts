import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard, FeedLiveness } from '../../ports/feed-board.ts'

/** Sends liveness reports to the feed board without waiting; the next report replaces a lost one. */
export class LivenessNotes {
  readonly #board: Pick<FeedBoard, 'note'>
  readonly #outage: OutageLog

  constructor(board: Pick<FeedBoard, 'note'>, deps: { readonly log: Log; readonly clock: Clock }) {
    this.#board = board
    this.#outage = new OutageLog(deps)
  }

  /** Logs once per outage: every bar and heartbeat of every feed makes a report. */
  note(feed: FeedKey, liveness: FeedLiveness): void {
    this.#board.note(feed, liveness).then(
      () => this.#outage.worked('feed board available again'),
      (cause: unknown) =>
        this.#outage.failed({ text: 'feed board unavailable; feed liveness may be stale', cause }),
    )
  }
}
