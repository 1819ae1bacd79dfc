import type { History } from '../../bars/history.ts'
import type { Bar } from '../../core/bars/bar.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FeedBoard } from '../../ports/feed-board.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import { nameGaps } from '../live/name-gaps.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { Connection } from '../sockets/connection.ts'
import type { SymbolGap } from '../sockets/protocol.ts'
import { FeedClocks } from './feed-clocks.ts'
import { Markers } from './markers.ts'
import { Recent } from './recent.ts'
import { Replays } from './replays.ts'

/** A client may go back this far; what lies before is named in a GAP frame. */
const backMaxSeconds = 86_400

export interface ResumptionDeps {
  readonly clock: Clock
  readonly log: Log
  readonly registry: FollowedRegistry
  readonly board: FeedBoard
  readonly history: Pick<History, 'range'>
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly metrics: StreamMetrics
  readonly isFilling: (feed: FeedKey) => boolean
  readonly isUnproven: (feed: FeedKey) => boolean
  readonly lastTime: (id: number) => FeedSeconds | undefined
  readonly frame: (id: number, bar: Bar) => Frames
}

/** Beyond the specification, for clients that ask: `since` brings what they missed, `markers` tell complete minutes. */
export class Resumption {
  readonly #deps: ResumptionDeps
  readonly #clocks: FeedClocks
  readonly #recent = new Recent()
  readonly #replays: Replays
  readonly #markers: Markers

  constructor(deps: ResumptionDeps) {
    this.#deps = deps
    const settle = (): void => deps.fanOut.settle()
    this.#clocks = new FeedClocks(deps)
    this.#markers = new Markers({
      settle,
      isBusy: (connection, feed) => this.#replays.isBusy(connection, feed),
    })
    this.#replays = new Replays({
      ...deps,
      settle,
      recent: this.#recent,
      isOnItsWay: (id) => deps.fanOut.holds(id),
      nameGap: (connection, symbol, after, reason) => {
        deps.metrics.replayGaps.inc({ reason })
        nameGaps(connection, [{ symbol, after }], deps.metrics)
      },
      ended: (connection, feed) => this.#markers.replayed(connection, feed),
    })
  }

  get replays(): Replays['counts'] {
    return this.#replays.counts
  }

  /** The time after which bars can follow a client that asks for those since `asked`, as far as is known. */
  start(feed: FeedKey, asked: FeedSeconds): FeedSeconds {
    const now = this.#clocks.now(feed)
    if (!now) return asked
    const latest = now.isExact ? Math.min(asked, now.time) : asked
    return feedSeconds(Math.max(now.time - backMaxSeconds, latest))
  }

  /** Replays held symbols, each from its start; what was asked for before that is named. */
  begin(
    connection: Connection,
    starts: ReadonlyMap<CompoundKey, FeedSeconds>,
    asked: ReadonlyMap<string, FeedSeconds | undefined>,
  ): void {
    const rest = [...starts].flatMap(([symbol, until]) => {
      const after = asked.get(symbol)
      return after !== undefined && after < until ? [{ symbol, after, until }] : []
    })
    if (rest.length > 0) nameGaps(connection, rest, this.#deps.metrics)
    const resumed = [...starts].map(([symbol, after]) => ({
      id: this.#deps.subscriptions.symbols.idOf(symbol),
      symbol,
      feed: feedOf(symbol),
      after,
    }))
    this.#replays.begin(connection, resumed)
  }

  /** From now on the socket is told which minutes of the feed are complete. */
  mark(connection: Connection, feed: FeedKey): void {
    this.#markers.listen(connection, feed)
  }

  /** Of which the socket is told complete minutes. */
  markedFeeds(connection: Connection): readonly FeedKey[] {
    return this.#markers.feedsOf(connection)
  }

  /** Some of its subscriptions ended. */
  review(connection: Connection): void {
    this.#replays.review(connection)
    const feeds = this.#markers.feedsOf(connection)
    if (feeds.length === 0) return
    const { subscriptions } = this.#deps
    const left = new Set(
      subscriptions.idsOf(connection.row).map((id) => feedOf(subscriptions.symbols.symbol(id))),
    )
    for (const feed of feeds) if (!left.has(feed)) this.#markers.leave(connection, feed)
  }

  forget(connection: Connection): void {
    this.#replays.forget(connection)
    this.#markers.forget(connection)
  }

  /** What the socket was promised by `since` and not sent yet. */
  owed(connection: Connection): readonly SymbolGap[] {
    return this.#replays.owed(connection)
  }

  /** Before a live bar is pushed. */
  arriving(id: number, bar: Bar): void {
    this.#replays.arriving(id, bar.time)
    this.#recent.add(id, bar)
  }

  /** Live bars of the symbol may have been lost. */
  broken(id: number): void {
    this.#recent.broken(id)
  }

  /** History of the symbol changed up to this time. */
  revised(id: number, to: FeedSeconds): void {
    this.#recent.revised(id, to)
  }

  complete(feed: FeedKey, from: FeedSeconds, to: FeedSeconds): void {
    this.#markers.complete(feed, from, to)
  }

  close(): void {
    this.#clocks.close()
    this.#replays.close()
  }
}
