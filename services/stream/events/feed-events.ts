import { FeedStatuses } from '../../bars/feed-statuses.ts'
import { toSeconds } from '../../core/clocks/feed-clock.ts'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import { OutageLog } from '../../platform/outage-log.ts'
import { SharedRun } from '../../platform/serial.ts'
import type { Connection } from '../connection/connection.ts'
import { messages, type ShownStatus } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import { Listeners } from './listeners.ts'

/** Interval of reads of the feed board; a change is sent within 5 s. */
const readEveryMs = 2_000
/** A status that was read less than this time ago is shown without another read. */
const freshMs = 1_000
/** Interval of reads of the store for feeds that never had a live bar. */
const storeEveryMs = 60_000

type FeedEventsDeps = Pick<SharedDeps, 'clock' | 'log' | 'registry' | 'board' | 'bars'>

/** Tells sockets the status of their feeds, first and after each change. Reads only feeds that a socket asked for. */
export class FeedEvents {
  readonly #deps: FeedEventsDeps
  readonly #listeners = new Listeners()
  /** Sockets that have no frame of the feed since they asked. */
  readonly #awaiting = new Listeners()
  readonly #statuses: FeedStatuses
  readonly #shown = new Map<FeedKey, ShownStatus>()
  readonly #reads = new SharedRun(() => this.#read())
  readonly #outage: OutageLog
  readonly close: () => void
  #readMs = Number.NEGATIVE_INFINITY
  readonly #storeMs = new Map<FeedKey, number>()

  constructor(deps: FeedEventsDeps) {
    this.#deps = deps
    this.#statuses = new FeedStatuses(deps)
    this.#outage = new OutageLog(deps)
    this.close = deps.clock.every(readEveryMs, () => this.#refresh())
  }

  /** The first frame follows in a later turn, after the answer to the subscribe. */
  listen(connection: Connection, feeds: Iterable<FeedKey>, isWanted: boolean): void {
    for (const feed of feeds)
      for (const listeners of [this.#listeners, this.#awaiting]) listeners.set(connection, feed, isWanted)
    if (isWanted) this.#refresh()
  }

  has(connection: Connection): boolean {
    return this.#listeners.has(connection)
  }

  keep(connection: Connection, feeds: ReadonlySet<FeedKey>): void {
    for (const listeners of [this.#listeners, this.#awaiting]) listeners.keep(connection, feeds)
  }

  #refresh(): void {
    if (this.#listeners.feeds().length === 0 || !this.#deps.registry.loaded) return
    this.#reads.run().then(
      () => this.#outage.worked('feed board available again'),
      (cause: unknown) =>
        this.#outage.failed({ text: 'feed board unavailable; sockets get no `feed` frames', cause }),
    )
  }

  async #read(): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs()
    const feeds = this.#listeners.feeds()
    if (nowMs - this.#readMs >= freshMs || feeds.some((feed) => !this.#shown.has(feed))) {
      await this.#statuses.readBoard(feeds)
      this.#readMs = nowMs
      for (const feed of feeds) void this.#readStore(feed, nowMs).then(() => this.#show(feed))
    }
    // Only the first status of a feed waits for the store, which is not read for feeds with a live bar.
    for (const feed of feeds) if (this.#shown.has(feed)) this.#show(feed)
  }

  /** While the store is unavailable the last known bars count. */
  async #readStore(feed: FeedKey, nowMs: number): Promise<void> {
    if (nowMs - (this.#storeMs.get(feed) ?? -storeEveryMs) < storeEveryMs) return
    try {
      await this.#statuses.readNewest([feed])
      this.#storeMs.set(feed, nowMs)
    } catch {
      // It is read again with the next read of the board.
    }
  }

  #show(feed: FeedKey): void {
    const view = this.#deps.registry.view()
    const definition = view.feed(feed)
    if (!definition) return
    const { status, liveness_source } = this.#statuses.of(definition, view)
    const before = this.#shown.get(feed)
    const isSame = before?.status === status && before.liveness_source === liveness_source
    const shown = isSame
      ? before
      : { status, liveness_source, changedAt: toSeconds(this.#deps.clock.utcMs()) }
    this.#shown.set(feed, shown)
    const sockets = [...(isSame ? this.#awaiting : this.#listeners).of(feed)]
    this.#awaiting.clear(feed)
    for (const connection of sockets) connection.send(messages.feed(feed, shown))
  }
}
