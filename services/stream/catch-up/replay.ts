import type { History } from '../../bars/history.ts'
import { type Bar, toList } from '../../core/bars/bar.ts'
import { barTimeMax } from '../../core/bars/bar-rules.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import type { Reader } from '../../core/fair-queue.ts'
import type { Connection } from '../connection/connection.ts'
import type { Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { LiveFeed } from '../live/live-feed.ts'
import type { LiveSymbol } from '../live/live-symbol.ts'

const framesPerWrite = 500
/** Maximum bars of one replay: two days of minutes. `since` reaches back one day, unless the feed's clock is unknown. */
const replayBarsMax = 2 * 1_440
/** Maximum bars of a read that other replays of its symbol use, too: after a rollout each lacks a few minutes. */
const sharedBarsMax = 30

/** A symbol that was just subscribed to; its live bars are deferred until its bars after `after` were sent. */
export interface Resumed {
  readonly feed: LiveFeed
  readonly live: LiveSymbol
  readonly after: FeedSeconds
}

/** The bars of one symbol that a client missed. As a reader of the store it shares its key's turns with REST requests. */
export class Replay implements Reader {
  readonly connection: Connection
  readonly feed: LiveFeed
  readonly live: LiveSymbol
  readonly key: string
  readonly sinceMs: number
  /** Open time of the last bar sent. */
  last: FeedSeconds
  /** Failed reads of the store. */
  failures = 0
  isEnded = false
  readonly #subscriptions: Subscriptions
  readonly #returns: number
  #sent = 0
  /** Mark of `RecentBars`, from before the last read of the store. */
  #mark: number | undefined
  #isReading = false

  constructor(connection: Connection, resumed: Resumed, subscriptions: Subscriptions, sinceMs: number) {
    this.connection = connection
    this.feed = resumed.feed
    this.live = resumed.live
    this.key = connection.key.id
    this.sinceMs = sinceMs
    this.last = resumed.after
    this.#subscriptions = subscriptions
    this.#returns = resumed.live.returns
  }

  /** Whether the socket is open, and subscribed to the symbol, and its live bars do not follow yet. */
  get isDeferred(): boolean {
    return this.connection.open && this.#subscriptions.isDeferred(this.connection.row, this.live.id)
  }

  /** The symbol may have been unsubscribed, and subscribed again, meanwhile. */
  get isGone(): boolean {
    return this.isEnded || !this.isDeferred
  }

  get obstacle(): 'returned' | 'too_many_bars' | undefined {
    if (this.live.returns !== this.#returns) return 'returned'
    return this.#sent > replayBarsMax ? 'too_many_bars' : undefined
  }

  /** Whether the store was read to its end, and all later bars are in memory. */
  get isRead(): boolean {
    return this.#mark !== undefined && this.live.recent.coversSince(this.#mark)
  }

  /** Whether the store may lack bars: it does not show what the bus lost, or a live bar whose write is still retried. */
  get isUnproven(): boolean {
    const { recent, lastTime } = this.live
    const shown = recent.after(this.last).at(-1)?.time ?? this.last
    return this.feed.isUnconfirmed || (lastTime ?? shown) > shown
  }

  /**
   * Sends the later bars of the store and its tail. Returns false if the socket accepts no more at present. Of a few bars
   * `others`, replays of this symbol, get those that they lack, so that they need no read.
   */
  async send(history: Pick<History, 'range'>, others: readonly Replay[]): Promise<boolean> {
    const { mark } = this.live.recent
    const after = this.last
    const found: Bar[] = []
    this.#isReading = true
    try {
      if (!(await this.#read(history, found))) return false
    } finally {
      this.#isReading = false
    }
    if (this.isGone || this.obstacle) return true
    this.#mark = mark
    if (found.length <= sharedBarsMax)
      for (const other of others) if (other.last >= after) other.#share(found, mark)
    return true
  }

  /** Like `send`; adds the bars to `found`. */
  async #read(history: Pick<History, 'range'>, found: Bar[]): Promise<boolean> {
    const { connection, feed, live } = this
    const series = { feed: feed.key, symbol: live.symbol, resolution: '1' } as const
    for await (const bars of history.range(series, feedSeconds(this.last + 1), barTimeMax, this)) {
      const list = toList(bars)
      for (let start = 0; start < list.length; start += framesPerWrite) {
        if (connection.isFull) return false
        if (this.isGone || this.obstacle) return true
        const some = list.slice(start, start + framesPerWrite)
        this.#write(some)
        found.push(...some)
      }
    }
    return true
  }

  /** Takes what another replay read since this one was requested. */
  #share(found: readonly Bar[], mark: number): void {
    if (this.#isReading || this.isGone || this.obstacle || this.connection.isFull) return
    this.#write(found.filter(({ time }) => time > this.last))
    this.#mark = mark
  }

  sendRecent(): void {
    this.#write(this.live.recent.after(this.last))
  }

  #write(bars: readonly Bar[]): void {
    if (bars.length === 0) return
    this.connection.write(this.#frames(bars))
    this.last = bars.at(-1)?.time ?? this.last
    this.#sent += bars.length
  }

  #frames(bars: readonly Bar[]): Frames {
    return this.live.frames(bars, this.#subscriptions.formats.of(this.connection.row))
  }
}
