import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { EventName } from '../../frames/client-messages.ts'
import type { Connection } from '../connection/connection.ts'
import type { SharedDeps } from '../deps.ts'
import { FeedEvents } from './feed-events.ts'
import { RevisedEvents } from './revised-events.ts'

type EventsDeps = Pick<SharedDeps, 'clock' | 'log' | 'registry' | 'board' | 'bars' | 'subscriptions'>

const none: ReadonlySet<FeedKey> = new Set()

/** The events that a socket asked for with `events`, by feed. */
export class Events {
  readonly revised: RevisedEvents
  readonly #feed: FeedEvents

  constructor(deps: EventsDeps) {
    this.#feed = new FeedEvents(deps)
    this.revised = new RevisedEvents(deps)
  }

  /** From now on the socket gets exactly the `wanted` events of these feeds. */
  listen(connection: Connection, feeds: ReadonlySet<FeedKey>, wanted: ReadonlySet<EventName>): void {
    this.#feed.listen(connection, feeds, wanted.has('feed'))
    this.revised.listen(connection, feeds, wanted.has('revised'))
  }

  has(connection: Connection): boolean {
    return this.#feed.has(connection) || this.revised.has(connection)
  }

  /** The socket gets no events of other feeds any more. */
  keep(connection: Connection, feeds: ReadonlySet<FeedKey>): void {
    this.#feed.keep(connection, feeds)
    this.revised.keep(connection, feeds)
  }

  forget(connection: Connection): void {
    this.keep(connection, none)
  }

  close(): void {
    this.#feed.close()
    this.revised.close()
  }
}
