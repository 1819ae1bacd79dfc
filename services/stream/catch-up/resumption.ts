import type { History } from '../../bars/history.ts'
import { closeToleranceSeconds } from '../../core/bars/closed.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import { durationSeconds } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { SymbolFrames } from '../fan-out/symbol-frames.ts'
import type { SymbolId } from '../fan-out/symbol-table.ts'
import type { StreamMetrics } from '../metrics.ts'
import { FeedClocks } from './feed-clocks.ts'
import { MinuteMarkers } from './minute-markers.ts'
import type { RecentBars } from './recent-bars.ts'
import { Replays } from './replays.ts'

/** Maximum age of replayed bars; a GAP frame names older bars that a client asked for. */
const backMaxSeconds = 86_400

export interface ResumptionDeps {
  readonly clock: Clock
  readonly log: Log
  readonly registry: FollowedRegistry
  readonly board: FeedBoard
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly frames: SymbolFrames
  readonly recent: RecentBars
  readonly metrics: StreamMetrics
  readonly isFilling: (feed: FeedKey) => boolean
  readonly isUnconfirmed: (feed: FeedKey) => boolean
  readonly lastTime: (id: SymbolId) => FeedSeconds | undefined
}

/** Two extensions for clients that ask: `since` replays missed bars, `markers` announces complete minutes. */
export class Resumption {
  readonly markers: MinuteMarkers
  readonly #subscriptions: Subscriptions
  readonly #metrics: StreamMetrics
  readonly #lastTime: ResumptionDeps['lastTime']
  readonly #clocks: FeedClocks
  readonly #replays: Replays

  constructor(deps: ResumptionDeps) {
    const { fanOut, frames, metrics } = deps
    this.#subscriptions = deps.subscriptions
    this.#metrics = metrics
    this.#lastTime = deps.lastTime
    const settle = (): void => fanOut.settle()
    this.#clocks = new FeedClocks(deps)
    this.markers = new MinuteMarkers({
      settle,
      isBusy: (connection, feed) => this.#replays.isBusy(connection, feed),
    })
    this.#replays = new Replays({
      ...deps,
      settle,
      frame: (id, bar) => frames.frame(id, bar),
      isInFanOut: (id) => fanOut.has(id),
      nameGap: (connection, symbol, after, reason) => {
        metrics.replayGaps.inc({ reason })
        nameGaps(connection, [{ symbol, after }], 'replay', metrics)
      },
      ended: (connection, feed) => this.markers.replayed(connection, feed),
    })
  }

  get replays(): Replays['counts'] {
    return this.#replays.counts
  }

  /** The time after which bars follow for a client that asked for bars after `asked`; may be an estimate. */
  start({ feed, symbol, delaySeconds }: SymbolRecord, asked: FeedSeconds): FeedSeconds {
    const now = this.#clocks.now(feed)
    if (!now) return asked
    const newestClosed = now.time - durationSeconds['1'] - delaySeconds
    // A later time may name a bar that no client has yet: the next live bar must follow.
    const isAhead = now.isExact && asked > newestClosed + closeToleranceSeconds
    const live = this.#lastTime(this.#subscriptions.symbols.idOf(symbol))
    // After a clock jumped ahead, live bars are later than "now" until the clock is measured.
    const latest = isAhead ? Math.min(asked, live ?? newestClosed) : asked
    return feedSeconds(Math.max(Math.min(newestClosed, now.time - backMaxSeconds), latest))
  }

  /** Replays deferred symbols, each from its time in `starts`. A GAP frame names older requested bars. */
  begin(
    connection: Connection,
    starts: ReadonlyMap<CompoundKey, FeedSeconds>,
    asked: ReadonlyMap<string, FeedSeconds | undefined>,
  ): void {
    const older = [...starts].flatMap(([symbol, until]) => {
      const after = asked.get(symbol)
      return after !== undefined && after < until ? [{ symbol, after, until }] : []
    })
    if (older.length > 0) nameGaps(connection, older, 'asked', this.#metrics)
    const resumed = [...starts].map(([symbol, after]) => ({
      id: this.#subscriptions.symbols.idOf(symbol),
      symbol,
      feed: feedOf(symbol),
      after,
    }))
    this.#replays.begin(connection, resumed)
  }

  /** Whether the socket gets a frame for each complete minute of the feed from now on. */
  mark(connection: Connection, feed: FeedKey, isWanted: boolean): void {
    if (isWanted) this.markers.listen(connection, feed)
    else this.markers.leave(connection, feed)
  }

  /** Feeds whose complete minutes are announced to the socket. */
  markedFeeds(connection: Connection): readonly FeedKey[] {
    return this.markers.feedsOf(connection)
  }

  /** Must be called after subscriptions of the socket ended. */
  review(connection: Connection): void {
    this.#replays.review(connection)
    const feeds = this.markers.feedsOf(connection)
    if (feeds.length === 0) return
    const { symbols } = this.#subscriptions
    const left = new Set(this.#subscriptions.idsOf(connection.row).map((id) => feedOf(symbols.symbol(id))))
    for (const feed of feeds) if (!left.has(feed)) this.markers.leave(connection, feed)
  }

  forget(connection: Connection): void {
    this.#replays.forget(connection)
    this.markers.forget(connection)
  }

  /** Bars that `since` promised to the socket and that are not sent yet. */
  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return this.#replays.unsentGaps(connection)
  }

  /** Must be called before each live bar is pushed: replayed sockets that wait for it get it. */
  arriving(id: SymbolId, time: FeedSeconds): void {
    this.#replays.arriving(id, time)
  }

  close(): void {
    this.#clocks.close()
    this.#replays.close()
  }
}
