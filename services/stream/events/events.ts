import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { EventName } from '../../frames/client-messages.ts'
import type { Connection } from '../connection/connection.ts'
import type { Revised } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import { FeedEvents } from './feed-events.ts'
import { RevisedEvents } from './revised-events.ts'

type EventsDeps = Pick<SharedDeps, 'clock' | 'log' | 'registry' | 'board' | 'bars' | 'subscriptions'>

const none: ReadonlySet<FeedKey> = new Set()

/** The events that a socket asked for with `events`, by feed. */
export class Events {
  readonly #feed: FeedEvents
  readonly #revised: RevisedEvents

  constructor(deps: EventsDeps) {
    this.#feed = new FeedEvents(deps)
    this.#revised = new RevisedEvents(deps)
  }

  /** From now on the socket gets exactly the `wanted` events of these feeds. */
  listen(connection: Connection, feeds: ReadonlySet<FeedKey>, wanted: ReadonlySet<EventName>): void {
    this.#feed.listen(connection, feeds, wanted.has('feed'))
    this.#revised.listen(connection, feeds, wanted.has('revised'))
  }

  /** History shows other bars of a series. */
  revised(change: Revised): void {
    this.#revised.revised(change)
  }

  /** Must be called after subscriptions of the socket ended. `feedsLeft` is called only if the socket gets events. */
  review(connection: Connection, feedsLeft: () => ReadonlySet<FeedKey>): void {
    if (this.#feed.has(connection) || this.#revised.has(connection)) this.#keep(connection, feedsLeft())
  }

  forget(connection: Connection): void {
    this.#keep(connection, none)
  }

  close(): void {
    this.#feed.close()
    this.#revised.close()
  }

  /** The socket gets no events of other feeds any more. */
  #keep(connection: Connection, feeds: ReadonlySet<FeedKey>): void {
    this.#feed.keep(connection, feeds)
    this.#revised.keep(connection, feeds)
  }
}
