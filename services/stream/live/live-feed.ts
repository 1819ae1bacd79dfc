import { type Bar, type Bars, toList } from '../../core/bars/bar.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { LiveBar } from '../../ports/bus.ts'
import type { Connection } from '../connection/connection.ts'
import { nameGaps } from '../connection/name-gaps.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { SharedDeps } from '../deps.ts'
import { Baseline } from './baseline.ts'
import { Hole, type WantedSymbol } from './hole.ts'
import { LiveSymbol } from './live-symbol.ts'
import { LostPositions } from './lost-positions.ts'
import { MinuteMarkers, type Minutes } from './minute-markers.ts'

export interface LiveFeedDeps
  extends Pick<SharedDeps, 'clock' | 'log' | 'bars' | 'subscriptions' | 'fanOut' | 'metrics'> {
  readonly sockets: { at(row: number): Connection | undefined }
}

/**
 * All that this process knows of the live bars of a feed. It pushes each bar to the subscribers, per symbol strictly
 * ascending in time. After a loss on the bus it first reads what was lost from the store, or names it in GAP frames.
 */
export class LiveFeed {
  readonly key: FeedKey
  readonly markers: MinuteMarkers
  /** The time of its newest tick, as `FeedClocks` read it. */
  newestTick: FeedSeconds | undefined
  readonly #deps: LiveFeedDeps
  readonly #lost: LostPositions
  readonly #baseline: Baseline
  /** Symbols that had a live bar, or that a client resumed. */
  readonly #symbols = new Map<CompoundKey, LiveSymbol>()
  #hole: Hole | undefined
  #isListed = false
  #hasMinutes = false

  constructor(key: FeedKey, deps: LiveFeedDeps) {
    this.key = key
    this.#deps = deps
    this.markers = new MinuteMarkers(key, deps.fanOut)
    this.#lost = new LostPositions(deps.clock)
    this.#baseline = new Baseline({ ...deps, symbols: deps.subscriptions.symbols }, key)
  }

  symbol(symbol: CompoundKey): LiveSymbol {
    const known = this.#symbols.get(symbol)
    if (known) return known
    const live = new LiveSymbol(this.#deps.subscriptions.symbols.idOf(symbol), symbol)
    this.#symbols.set(symbol, live)
    return live
  }

  /** Whether earlier bars are missing: the bars and minutes that arrive are queued. */
  get hasHole(): boolean {
    return this.#hole !== undefined
  }

  /** Whether lost bars are being read for all subscribers, or the store may soon show what the bus lost. */
  get isFilling(): boolean {
    return this.hasHole || this.#lost.areAwaited
  }

  /** Whether the bus lost bars that the store may not show yet. */
  get isUnconfirmed(): boolean {
    return this.#lost.areUnconfirmed
  }

  /** The gap of a socket that gets no more bars of the symbol from now on. */
  gapOf(live: LiveSymbol): SymbolGap {
    return { symbol: live.symbol, after: this.#lastKnown(live) }
  }

  /** The closed minutes of an event of the bus. */
  receive(bars: readonly LiveBar[]): void {
    if (this.#hole) return this.#hole.queue(bars)
    const absent = bars.map(({ symbol }) => this.symbol(symbol)).filter(({ isAbsent }) => isAbsent)
    if (absent.length > 0) this.#nameAbsence(absent)
    for (const { symbol, bar } of bars) this.#push(this.symbol(symbol), bar)
  }

  complete(minutes: Minutes): void {
    if (this.#hole) this.markers.hold(minutes)
    else this.markers.complete(minutes)
  }

  revised(symbol: CompoundKey, to: FeedSeconds): void {
    this.#symbols.get(symbol)?.recent.revised(to)
  }

  /** The bus lost events; `upTo` is the last position that may be lost. */
  lost(upTo: number): void {
    const { log, metrics } = this.#deps
    metrics.losses.inc()
    this.#lost.add(upTo)
    // What is read from the store are later bars. It does not show which of the earlier ones were revised.
    for (const { recent } of this.#symbols.values()) recent.revisionsLost()
    if (!this.#hole && this.#subscribed().length === 0) return this.#restartMemory(new Map())
    if (!this.#hole)
      log.warn({ feed: this.key, upTo }, 'events lost on the bus; reading the missed bars from the store')
    this.#hole ??= new Hole(this.#deps, this.key, () => this.#endHole())
    this.#hole.lost()
  }

  /** The store shows everything up to this position. */
  applied(position: number): void {
    if (this.#lost.applied(position)) void this.#hole?.fill(this.#wanted())
  }

  /** Subscribed symbols are in the registry again: their bars go on after a GAP frame. */
  returned(symbols: readonly CompoundKey[]): void {
    const returned = symbols.map((symbol) => this.symbol(symbol))
    for (const live of returned) live.isAbsent = false
    this.#nameAbsence(returned)
  }

  /** Must be called after each change of the registry. */
  follow(view: RegistryView): void {
    const definition = view.feed(this.key)
    const isListed = definition !== undefined
    const isChanged = isListed !== this.#isListed
    this.#isListed = isListed
    this.#hasMinutes = definition?.resolutions.includes('1') ?? false
    // A feed that leaves the registry may be purged before it returns: replays then read its bars from the store.
    if (isChanged) this.#restartMemory(new Map())
    if (!this.#hasMinutes) return
    if (!this.#baseline.isRead) void this.#baseline.read()
    else if (isChanged) void this.#restartPurged()
  }

  close(): void {
    this.#hole?.close()
    this.#hole = undefined
    this.#baseline.close()
  }

  /** Drops a bar that is not newer than the last one of its symbol. */
  #push(live: LiveSymbol, bar: Bar): void {
    const { subscriptions, fanOut, metrics } = this.#deps
    if (live.lastTime !== undefined && bar.time <= live.lastTime) return metrics.stale.inc()
    if (live.waiting.size > 0) this.#joinWaiting(live, bar.time)
    live.recent.add(bar)
    live.lastTime = bar.time
    const subscribers = subscriptions.symbols.subscribers(live.id)
    if (subscribers === 0) return
    const { formats } = subscriptions
    if (formats.isUsed('bar')) fanOut.push(live.id, live.frame(bar))
    if (formats.isUsed('rows')) fanOut.pushEntry(live.id, this.key, bar.time, live.entry(bar))
    metrics.bars.inc(subscribers)
  }

  #joinWaiting({ id, waiting }: LiveSymbol, time: FeedSeconds): void {
    const { subscriptions, fanOut } = this.#deps
    if (fanOut.has(id)) fanOut.flush()
    for (const [connection, last] of waiting) {
      if (time <= last) continue
      waiting.delete(connection)
      subscriptions.release(connection.row, id)
    }
  }

  /** Open time of the last live bar, else of the newest bar stored at start; later bars may be missing. */
  #lastKnown({ lastTime, symbol }: LiveSymbol): FeedSeconds | undefined {
    return lastTime ?? this.#baseline.of(symbol)
  }

  /** The symbols of the feed that have subscribers. Empty if the feed has no one-minute bars. */
  #subscribed(): LiveSymbol[] {
    const { symbols } = this.#deps.subscriptions
    if (!this.#hasMinutes) return []
    return symbols
      .subscribed()
      .flatMap((symbol) => (feedOf(symbol) === this.key ? [this.symbol(symbol)] : []))
  }

  #wanted(): WantedSymbol[] {
    return this.#subscribed().map((live) => ({ live, last: this.#lastKnown(live) }))
  }

  /** Pushes the bars that were read, names those that were not, and pushes the queued bars. */
  #endHole(): void {
    if (!this.#hole) return
    const { queued, reading } = this.#hole
    const wanted = (reading?.wanted ?? this.#wanted()).map(({ live }) => live)
    const found = reading?.found ?? new Map<LiveSymbol, Bars>()
    this.#hole.close()
    this.#hole = undefined
    for (const [live, bars] of found) for (const bar of toList(bars)) this.#push(live, bar)
    const missing = wanted.filter((live) => !found.has(live))
    const reportLoss = (unread: readonly LiveSymbol[]): void => {
      this.#restartMemory(found)
      if (unread.length > 0) this.#nameGap(unread, 'lost')
    }
    reportLoss(missing)
    // A GAP frame covers all bars before the next bar of its symbol. Until that bar the symbol needs no other frame.
    const pushed = new Set<LiveSymbol>()
    for (const each of queued) {
      if (each === 'loss') {
        reportLoss(missing.filter((live) => pushed.has(live)))
        pushed.clear()
      } else {
        const live = this.symbol(each.symbol)
        this.#push(live, each.bar)
        pushed.add(live)
      }
    }
    this.markers.release(missing.length === 0)
  }

  /** Bars were lost; those of the `filled` symbols were pushed. */
  #restartMemory(filled: ReadonlyMap<LiveSymbol, unknown>): void {
    for (const live of this.#symbols.values()) if (!filled.has(live)) live.recent.restart()
  }

  /** The symbols were absent from the registry, and the bars of that time were not pushed. */
  #nameAbsence(absent: readonly LiveSymbol[]): void {
    const { subscriptions, fanOut } = this.#deps
    // Sockets that wait for a later bar have those of the burst.
    fanOut.flush()
    for (const live of absent) {
      live.returns += 1
      live.recent.restart()
      for (const { row } of live.waiting.keys()) subscriptions.release(row, live.id)
      live.waiting.clear()
    }
    this.#nameGap(absent, 'returned')
  }

  /** Sends GAP frames to the subscribers of these symbols. `returned`: a replay names what it did not send itself. */
  #nameGap(missing: readonly LiveSymbol[], cause: 'lost' | 'returned'): void {
    const { subscriptions, fanOut, sockets, metrics } = this.#deps
    fanOut.flush()
    const gaps = new Map(missing.map((live) => [live.id, this.gapOf(live)]))
    for (let row = 0; row < subscriptions.matrix.rows; row++) {
      const ids = cause === 'lost' ? subscriptions.idsOf(row) : subscriptions.matrix.columnsOf(row)
      const concerned = ids.flatMap((id) => gaps.get(id) ?? [])
      const connection = sockets.at(row)
      if (connection && concerned.length > 0) nameGaps(connection, concerned, cause, metrics)
    }
  }

  /** The feed is back. A series without stored bars was purged: its next bars may be earlier, as on another clock. */
  async #restartPurged(): Promise<void> {
    const times = new Map([...this.#symbols.values()].map((live) => [live, live.lastTime]))
    if (!(await this.#baseline.read())) return
    for (const [live, time] of times)
      if (live.lastTime === time && !this.#baseline.isStored(live.symbol)) live.lastTime = undefined
    if (this.#baseline.isEmpty) this.markers.restart()
  }
}
