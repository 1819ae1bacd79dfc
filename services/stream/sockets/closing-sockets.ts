import type { Resumption } from '../catch-up/resumption.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SharedDeps } from '../deps.ts'
import type { Events } from '../events/events.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'
import type { OpenSockets } from './open-sockets.ts'
import type { Sessions } from './sessions.ts'
import type { Throttle } from './throttle.ts'
import type { WholeFeeds } from './whole-feeds.ts'

interface ClosingSocketsDeps extends Pick<SharedDeps, 'subscriptions' | 'fanOut' | 'metrics'> {
  readonly sockets: OpenSockets
  readonly sessions: Sessions
  readonly throttle: Throttle
  readonly feeds: LiveFeeds
  readonly resumption: Resumption
  readonly events: Events
  readonly wholeFeeds: WholeFeeds
  /** Called after a socket was removed. */
  readonly onLeave: () => void
}

/** The end of a connection: sends the last bars, names what is missing, frees everything that it used. */
export class ClosingSockets {
  readonly #deps: ClosingSocketsDeps

  constructor(deps: ClosingSocketsDeps) {
    this.#deps = deps
  }

  /** Sends what the connection has not been sent yet, or names it in a GAP frame. */
  beforeClose(connection: Connection): void {
    const { fanOut, resumption, feeds, metrics } = this.#deps
    fanOut.flush()
    const unsent = resumption.unsentGaps(connection)
    const isUnsent = new Set(unsent.map(({ symbol }) => symbol))
    const missed = feeds.openGaps(connection.row).filter(({ symbol }) => !isUnsent.has(symbol))
    const gaps = [...unsent, ...missed]
    if (gaps.length > 0) nameGaps(connection, gaps, 'closed', metrics)
  }

  async leave(connection: Connection): Promise<void> {
    try {
      this.#forget(connection)
    } finally {
      // This runs after a defect too: a slot that is not freed here would be renewed until the process ends.
      await this.#deps.sessions.close(connection.sessionId)
    }
  }

  #forget(connection: Connection): void {
    const { sockets, throttle, resumption, events, wholeFeeds, subscriptions, onLeave } = this.#deps
    sockets.remove(connection)
    throttle.left(connection)
    onLeave()
    resumption.forget(connection)
    events.forget(connection)
    wholeFeeds.forget(connection)
    subscriptions.closeRow(connection.row)
  }
}
