import { closeToleranceSeconds } from '../../core/bars/closed.ts'
import { type FeedSeconds, feedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import { durationSeconds } from '../../core/feeds/resolution.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import type { LiveFeeds } from '../live/live-feeds.ts'
import { FeedClocks } from './feed-clocks.ts'
import { Replays } from './replays.ts'

/** Maximum age of replayed bars; a GAP frame names older bars that a client asked for. */
const backMaxSeconds = 86_400

type ResumptionDeps = Omit<SharedDeps, 'bus' | 'bars'> & { readonly feeds: LiveFeeds }

/** Two extensions for clients that ask: `since` replays missed bars, `markers` announces complete minutes. */
export class Resumption {
  readonly #deps: Pick<ResumptionDeps, 'feeds' | 'metrics'>
  readonly #clocks: FeedClocks
  readonly #replays: Replays

  constructor(deps: ResumptionDeps) {
    this.#deps = deps
    this.#clocks = new FeedClocks(deps)
    this.#replays = new Replays(deps)
  }

  get replays(): Replays['counts'] {
    return this.#replays.counts
  }

  /** The time after which bars follow for a client that asked for bars after `asked`; may be an estimate. */
  startOf({ feed, symbol, delaySeconds }: SymbolRecord, asked: FeedSeconds): FeedSeconds {
    const now = this.#clocks.now(feed)
    if (!now) return asked
    const newestClosed = now.time - durationSeconds['1'] - delaySeconds
    // A later time may name a bar that no client has yet: the next live bar must follow.
    const isAhead = now.isExact && asked > newestClosed + closeToleranceSeconds
    const { lastTime } = this.#deps.feeds.of(feed).symbol(symbol)
    // After a clock jumped ahead, live bars are later than "now" until the clock is measured.
    const latest = isAhead ? Math.min(asked, lastTime ?? newestClosed) : asked
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
    if (older.length > 0) nameGaps(connection, older, 'asked', this.#deps.metrics)
    const resumed = [...starts].map(([symbol, after]) => {
      const feed = this.#deps.feeds.of(feedOf(symbol))
      return { feed, live: feed.symbol(symbol), after }
    })
    this.#replays.begin(connection, resumed)
  }

  /** Must be called after subscriptions of the socket ended. `feedsLeft` is called only if the socket has markers. */
  review(connection: Connection, feedsLeft: () => ReadonlySet<FeedKey>): void {
    this.#replays.review(connection)
    const marked = [...this.#deps.feeds.all()].filter(({ markers }) => markers.has(connection))
    if (marked.length === 0) return
    const left = feedsLeft()
    for (const { key, markers } of marked) if (!left.has(key)) markers.listen(connection, false)
  }

  forget(connection: Connection): void {
    this.#replays.forget(connection)
    for (const { markers } of this.#deps.feeds.all()) markers.forget(connection)
  }

  unsentGaps(connection: Connection): readonly SymbolGap[] {
    return this.#replays.unsentGaps(connection)
  }

  close(): void {
    this.#clocks.close()
    this.#replays.close()
  }
}
