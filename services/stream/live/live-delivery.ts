import type { Bar } from '../../core/bars/bar.ts'
import type { Series } from '../../core/bars/series.ts'
import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { Log } from '../../platform/log/log.ts'
import type { BarStore } from '../../ports/bars.ts'
import type { Bus, Delivered, LiveBar } from '../../ports/bus.ts'
import type { Clock } from '../../ports/clock.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { Resumption } from '../catch-up/resumption.ts'
import type { FanOut } from '../fan-out/fan-out.ts'
import { barFrame, barPrefix, type Frames } from '../fan-out/frame.ts'
import type { Subscriptions } from '../fan-out/subscriptions.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { SymbolGap } from '../sockets/protocol.ts'
import { Baseline } from './baseline.ts'
import { quietMs, Refill, type WantedSymbol } from './refill.ts'
import { Unconfirmed } from './unconfirmed.ts'

export interface LiveDeliveryDeps {
  readonly bus: Bus
  readonly bars: Pick<BarStore, 'read' | 'lastTimes'>
  readonly clock: Clock
  readonly log: Log
  readonly registry: FollowedRegistry
  readonly subscriptions: Subscriptions
  readonly fanOut: FanOut
  readonly resumption: Resumption
  readonly metrics: StreamMetrics
  /** Tells one socket. */
  readonly nameGaps: (row: number, gaps: readonly SymbolGap[]) => void
}

type Minutes = { readonly from: FeedSeconds; readonly to: FeedSeconds }
/** Of one hole, which may be open for two minutes; the newest stay. */
const minutesHeldMax = 60

/** From the bus to the fan-out: closed M1 bars, each framed once, per symbol strictly ascending in time. */
export class LiveDelivery {
  readonly #deps: LiveDeliveryDeps
  readonly #refill: Refill
  readonly #unconfirmed: Unconfirmed
  readonly #baseline: Baseline
  /** By symbol number. */
  readonly #lastTimes: (FeedSeconds | undefined)[] = []
  readonly #prefixes: (string | undefined)[] = []
  /** Complete minutes whose bars wait for a hole to be closed. */
  readonly #minutes = new Map<FeedKey, Minutes[]>()
  readonly #unfollow: () => void

  constructor(deps: LiveDeliveryDeps) {
    this.#deps = deps
    this.#refill = new Refill(
      {
        wanted: (feed) => this.#wanted(feed),
        emit: (symbol, bar) => this.#emit(symbol, bar),
        broken: (feed, filled) => this.#broken(feed, filled),
        ended: (feed, isWhole) => this.#filled(feed, isWhole),
        nameGap: (missing) => this.#nameGap(missing),
        readFailed: () => deps.metrics.refillFailures.inc(),
      },
      deps.bars,
      deps.clock,
    )
    this.#unconfirmed = new Unconfirmed(deps.clock)
    this.#baseline = new Baseline({ ...deps, subscribed: (feed) => this.#subscribed(feed) })
    this.#unfollow = deps.bus.follow({
      deliver: (delivered) => this.#take(delivered),
      lost: (feed, upTo) => this.#lost(feed, upTo),
    })
  }

  /** What one socket must be told to have missed if it is closed now. */
  openGaps(row: number): readonly SymbolGap[] {
    if (this.#refill.none) return []
    return this.#deps.subscriptions.idsOf(row).flatMap((id) => {
      const feed = this.#liveFeed(id)
      return feed !== undefined && this.#refill.isOpen(feed) ? [this.gapOf(id)] : []
    })
  }

  /** Whether bars of the feed are on their way from the store, or it may show in a moment what the bus lost. */
  isFilling(feed: FeedKey): boolean {
    const isAwaited = this.#unconfirmed.has(feed) && this.#unconfirmed.ageMs(feed) < quietMs
    return isAwaited || this.#refill.isOpen(feed)
  }

  /** Whether the bus lost bars of the feed that the store may not show yet. */
  isUnproven(feed: FeedKey): boolean {
    return this.#unconfirmed.has(feed)
  }

  lastTime(id: number): FeedSeconds | undefined {
    return this.#lastTimes[id]
  }

  frame(id: number, bar: Bar): Frames {
    return barFrame(this.#prefix(id, this.#deps.subscriptions.symbols.symbol(id)), bar)
  }

  close(): void {
    this.#unfollow()
    this.#refill.close()
    this.#baseline.close()
  }

  #take({ position, event }: Delivered): void {
    if (event.type === 'bars') this.#arrive(event.feed, event.bars)
    else if (event.type === 'applied') this.#applied(event.feed, event.position)
    else if (event.type === 'settled') this.#applied(event.feed, position)
    else if (event.type === 'minutes') this.#complete(event.feed, event)
    else if (event.type === 'revised') this.#revised(event.series, event.to)
  }

  #lost(feed: FeedKey, upTo: number): void {
    this.#deps.metrics.losses.inc()
    this.#unconfirmed.lost(feed, upTo)
    const isOpen = this.#refill.isOpen(feed)
    if (!isOpen && this.#subscribed(feed).length === 0) return this.#broken(feed, new Set())
    if (!isOpen)
      this.#deps.log.warn({ feed, upTo }, 'events lost on the bus; reading the missed bars from the store')
    this.#refill.begin(feed, upTo)
  }

  #applied(feed: FeedKey, position: number): void {
    this.#unconfirmed.applied(feed, position)
    this.#refill.applied(feed, position)
  }

  /** Bars of the feed were lost; of other symbols than these nobody read them. */
  #broken(feed: FeedKey, filled: ReadonlySet<CompoundKey>): void {
    const { subscriptions, resumption } = this.#deps
    for (const id of new Set([...this.#lastTimes.keys(), ...subscriptions.symbols.subscribedIds()])) {
      const symbol = subscriptions.symbols.symbol(id)
      if (feedOf(symbol) === feed && !filled.has(symbol)) resumption.broken(id)
    }
  }

  #revised({ symbol, resolution }: Series, to: FeedSeconds): void {
    const id = this.#deps.subscriptions.symbols.knownId(symbol)
    if (resolution === '1' && id !== undefined) this.#deps.resumption.revised(id, to)
  }

  #arrive(feed: FeedKey, bars: readonly LiveBar[]): void {
    const minutes = bars.filter((live) => live.resolution === '1')
    if (this.#refill.isOpen(feed)) this.#refill.hold(feed, minutes)
    else for (const { symbol, bar } of minutes) this.#emit(symbol, bar)
  }

  #complete(feed: FeedKey, minutes: Minutes): void {
    if (!this.#refill.isOpen(feed)) return this.#deps.resumption.complete(feed, minutes.from, minutes.to)
    this.#minutes.set(feed, [...(this.#minutes.get(feed) ?? []), minutes].slice(-minutesHeldMax))
  }

  #filled(feed: FeedKey, isWhole: boolean): void {
    const held = this.#minutes.get(feed) ?? []
    this.#minutes.delete(feed)
    if (isWhole) for (const { from, to } of held) this.#deps.resumption.complete(feed, from, to)
  }

  #emit(symbol: CompoundKey, bar: Bar): void {
    const { subscriptions, fanOut, metrics, resumption } = this.#deps
    const id = subscriptions.symbols.idOf(symbol)
    const last = this.#lastTimes[id]
    if (last !== undefined && bar.time <= last) return metrics.stale.inc()
    while (this.#lastTimes.length < id) this.#lastTimes.push(undefined)
    resumption.arriving(id, bar)
    this.#lastTimes[id] = bar.time
    const subscribers = subscriptions.symbols.subscribers(id)
    if (subscribers === 0) return
    fanOut.push(id, this.frame(id, bar))
    metrics.bars.inc(subscribers)
  }

  #prefix(id: number, symbol: CompoundKey): string {
    const known = this.#prefixes[id]
    if (known !== undefined) return known
    while (this.#prefixes.length < id) this.#prefixes.push(undefined)
    return (this.#prefixes[id] = barPrefix(symbol))
  }

  /** The feed of a symbol, if minutes ever come for it. */
  #liveFeed(id: number): FeedKey | undefined {
    const feed = feedOf(this.#deps.subscriptions.symbols.symbol(id))
    const definition = this.#deps.registry.view().feed(feed)
    return definition?.resolutions.includes('1') ? feed : undefined
  }

  #subscribed(feed: FeedKey): CompoundKey[] {
    const { subscriptions } = this.#deps
    return subscriptions.symbols
      .subscribedIds()
      .filter((id) => this.#liveFeed(id) === feed)
      .map((id) => subscriptions.symbols.symbol(id))
  }

  #wanted(feed: FeedKey): WantedSymbol[] {
    return this.#subscribed(feed).map((symbol) => ({ symbol, last: this.#last(symbol) }))
  }

  /** What is later was delivered, or may be missed. */
  #last(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#lastTimes[this.#deps.subscriptions.symbols.idOf(symbol)] ?? this.#baseline.of(symbol)
  }

  /** What a socket that hears nothing more of the symbol misses from now on. */
  gapOf(id: number): SymbolGap {
    const symbol = this.#deps.subscriptions.symbols.symbol(id)
    return { symbol, after: this.#last(symbol) }
  }

  #nameGap(missing: readonly WantedSymbol[]): void {
    const { subscriptions, fanOut, nameGaps } = this.#deps
    fanOut.settle()
    const ids = new Set(missing.map(({ symbol }) => subscriptions.symbols.idOf(symbol)))
    for (let row = 0; row < subscriptions.matrix.rows; row++) {
      const concerned = subscriptions.idsOf(row).filter((id) => ids.has(id))
      if (concerned.length > 0)
        nameGaps(
          row,
          concerned.map((id) => this.gapOf(id)),
        )
    }
  }
}
