import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import type { CompoundKey, FeedKey } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecentBars } from '../catch-up/recent-bars.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { LivePush } from './live-push.ts'
import type { LiveSymbols } from './live-symbols.ts'
import { Refill, type WantedSymbol } from './refill.ts'
import { Unconfirmed } from './unconfirmed.ts'

/** Open times of the first and the last complete minute. */
export interface Minutes {
  readonly from: FeedSeconds
  readonly to: FeedSeconds
}

/** Maximum events of complete minutes queued for one hole, which may be open for two minutes; the newest stay. */
const minutesQueuedMax = 60

export interface BusLossesDeps {
  readonly bars: Pick<BarStore, 'read'>
  readonly clock: Clock
  readonly log: Log
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly recent: RecentBars
  readonly resumption: Resumption
  readonly liveSymbols: LiveSymbols
  readonly livePush: LivePush
  readonly metrics: Pick<StreamMetrics, 'losses' | 'refillFailures'>
  /** Sends a GAP frame to the socket of the row. */
  readonly nameGaps: (row: number, gaps: readonly SymbolGap[]) => void
}

/** What the bus lost, by feed: until the hole is closed, bars and complete minutes of the feed are queued. */
export class BusLosses {
  readonly #log: Log
  readonly #metrics: BusLossesDeps['metrics']
  readonly #subscriptions: Subscriptions
  readonly #fanOut: FanOut
  readonly #recent: RecentBars
  readonly #resumption: Resumption
  readonly #liveSymbols: LiveSymbols
  readonly #refill: Refill
  readonly #unconfirmed: Unconfirmed
  readonly #nameGaps: BusLossesDeps['nameGaps']
  readonly #minutes = new Map<FeedKey, Minutes[]>()

  constructor(deps: BusLossesDeps) {
    this.#log = deps.log
    this.#metrics = deps.metrics
    this.#subscriptions = deps.subscriptions
    this.#fanOut = deps.fanOut
    this.#recent = deps.recent
    this.#resumption = deps.resumption
    this.#liveSymbols = deps.liveSymbols
    this.#nameGaps = deps.nameGaps
    this.#refill = new Refill(
      {
        wanted: (feed) => this.#wanted(feed),
        emit: (symbol, bar) => deps.livePush.push(symbol, bar),
        broken: (feed, filled) => this.#broken(feed, filled),
        ended: (feed, isWhole) => this.#ended(feed, isWhole),
        nameGap: (missing) => this.#nameGap(missing),
        readFailed: () => deps.metrics.refillFailures.inc(),
      },
      deps.bars,
      deps.clock,
    )
    this.#unconfirmed = new Unconfirmed(deps.clock)
  }

  /** The bus lost events of the feed; `upTo` is the last position that may be lost. */
  lost(feed: FeedKey, upTo: number): void {
    this.#metrics.losses.inc()
    this.#unconfirmed.lost(feed, upTo)
    // What is read from the store are later bars. It does not show which of the earlier ones were revised.
    for (const id of this.#liveSymbols.idsOf(feed)) this.#recent.revisionsLost(id)
    const isOpen = this.#refill.isOpen(feed)
    if (!isOpen && this.#liveSymbols.subscribed(feed).length === 0) return this.#broken(feed, new Set())
    if (!isOpen)
      this.#log.warn({ feed, upTo }, 'events lost on the bus; reading the missed bars from the store')
    this.#refill.begin(feed, upTo)
  }

  /** The store shows everything up to this position. */
  applied(feed: FeedKey, position: number): void {
    this.#unconfirmed.applied(feed, position)
    this.#refill.applied(feed, position)
  }

  /** Whether bars of the feed must be queued, because earlier ones are being read from the store. */
  isOpen(feed: FeedKey): boolean {
    return this.#refill.isOpen(feed)
  }

  /** Whether bars of the feed are being read from the store, or the store may soon show what the bus lost. */
  isFilling(feed: FeedKey): boolean {
    return this.#unconfirmed.isAwaited(feed) || this.#refill.isOpen(feed)
  }

  /** Whether the bus lost bars of the feed that the store may not show yet. */
  isUnconfirmed(feed: FeedKey): boolean {
    return this.#unconfirmed.has(feed)
  }

  queueBars(feed: FeedKey, bars: readonly LiveBar[]): void {
    this.#refill.queue(feed, bars)
  }

  queueMinutes(feed: FeedKey, minutes: Minutes): void {
    this.#minutes.set(feed, [...(this.#minutes.get(feed) ?? []), minutes].slice(-minutesQueuedMax))
  }

  /** What the socket misses if it is closed now. */
  openGaps(row: number): readonly SymbolGap[] {
    if (this.#refill.none) return []
    return this.#subscriptions.idsOf(row).flatMap((id) => {
      const feed = this.#liveSymbols.feedOf(id)
      return feed !== undefined && this.#refill.isOpen(feed) ? [this.#liveSymbols.gapOf(id)] : []
    })
  }

  close(): void {
    this.#refill.close()
    this.#liveSymbols.close()
  }

  #wanted(feed: FeedKey): WantedSymbol[] {
    const symbols = this.#liveSymbols.subscribed(feed)
    return symbols.map((symbol) => ({ symbol, last: this.#liveSymbols.lastKnown(symbol) }))
  }

  /** Bars of the feed were lost; for symbols that are not in `filled` they were not read. */
  #broken(feed: FeedKey, filled: ReadonlySet<CompoundKey>): void {
    const { symbols } = this.#subscriptions
    for (const id of this.#liveSymbols.idsOf(feed))
      if (!filled.has(symbols.symbol(id))) this.#recent.broken(id)
  }

  #ended(feed: FeedKey, isWhole: boolean): void {
    const queued = this.#minutes.get(feed) ?? []
    this.#minutes.delete(feed)
    if (isWhole) for (const { from, to } of queued) this.#resumption.markers.complete(feed, from, to)
  }

  #nameGap(missing: readonly WantedSymbol[]): void {
    const { matrix, symbols } = this.#subscriptions
    this.#fanOut.settle()
    const ids = new Set(missing.map(({ symbol }) => symbols.idOf(symbol)))
    for (let row = 0; row < matrix.rows; row++) {
      const concerned = this.#subscriptions.idsOf(row).filter((id) => ids.has(id))
      if (concerned.length > 0)
        this.#nameGaps(
          row,
          concerned.map((id) => this.#liveSymbols.gapOf(id)),
        )
    }
  }
}
