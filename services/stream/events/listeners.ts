import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { Connection } from '../connection/connection.ts'

/** The sockets that asked for an event of a feed. */
export class Listeners {
  readonly #byFeed = new Map<FeedKey, Set<Connection>>()

  /** Feeds with a listener. */
  feeds(): FeedKey[] {
    return [...this.#byFeed.keys()]
  }

  of(feed: FeedKey): ReadonlySet<Connection> {
    return this.#byFeed.get(feed) ?? new Set()
  }

  set(connection: Connection, feed: FeedKey, isWanted: boolean): void {
    if (!isWanted) return this.#remove(connection, feed)
    const listeners = this.#byFeed.get(feed) ?? new Set()
    this.#byFeed.set(feed, listeners.add(connection))
  }

  has(connection: Connection): boolean {
    return this.#byFeed.values().some((listeners) => listeners.has(connection))
  }

  /** The socket listens to no other feeds any more. */
  keep(connection: Connection, feeds: ReadonlySet<FeedKey>): void {
    for (const feed of this.feeds()) if (!feeds.has(feed)) this.#remove(connection, feed)
  }

  clear(feed: FeedKey): void {
    this.#byFeed.delete(feed)
  }

  #remove(connection: Connection, feed: FeedKey): void {
    const listeners = this.#byFeed.get(feed)
    if (listeners?.delete(connection) && listeners.size === 0) this.#byFeed.delete(feed)
  }
}
