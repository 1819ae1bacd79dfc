import type { FeedSeconds } from '../../core/clocks/feed-clock.ts'
import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { RecentBars } from '../catch-up/recent-bars.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import type { SymbolId, SymbolTable } from '../fan-out/symbol-table.ts'
import { Baseline, type BaselineDeps } from './baseline.ts'

export interface LiveSymbolsDeps extends Omit<BaselineDeps, 'subscribed'> {
  readonly symbols: SymbolTable
  readonly recent: RecentBars
  /** Called when a feed that had left the registry is there again. */
  readonly feedReturned: (feed: FeedKey) => void
}

/** The last live bar of each symbol, and which symbols get live bars. */
export class LiveSymbols {
  readonly #registry: FollowedRegistry
  readonly #symbols: SymbolTable
  readonly #recent: RecentBars
  readonly #feedReturned: LiveSymbolsDeps['feedReturned']
  readonly #baseline: Baseline
  readonly #unlisten: () => void
  /** Feeds of the registry. */
  #feeds: ReadonlySet<FeedKey> = new Set()
  /** Feeds that left the registry. */
  readonly #gone = new Set<FeedKey>()
  /** By symbol number. */
  readonly #lastTimes: (FeedSeconds | undefined)[] = []

  constructor(deps: LiveSymbolsDeps) {
    const { registry } = deps
    this.#registry = registry
    this.#symbols = deps.symbols
    this.#recent = deps.recent
    this.#feedReturned = deps.feedReturned
    this.#baseline = new Baseline({ ...deps, subscribed: (feed) => this.subscribed(feed) })
    this.#unlisten = registry.onChange((view) => this.#forgetChanged(view))
    if (registry.loaded) this.#forgetChanged(registry.view())
  }

  /** Open time of the last live bar. */
  lastTime(id: SymbolId): FeedSeconds | undefined {
    return this.#lastTimes[id]
  }

  setLastTime(id: SymbolId, time: FeedSeconds): void {
    while (this.#lastTimes.length < id) this.#lastTimes.push(undefined)
    this.#lastTimes[id] = time
  }

  /** Open time of the last live bar, else of the newest bar stored at start; later bars may be missing. */
  lastKnown(symbol: CompoundKey): FeedSeconds | undefined {
    return this.#lastTimes[this.#symbols.idOf(symbol)] ?? this.#baseline.of(symbol)
  }

  /** The gap of a socket that gets no more bars of the symbol from now on. */
  gapOf(id: SymbolId): SymbolGap {
    const symbol = this.#symbols.symbol(id)
    return { symbol, after: this.lastKnown(symbol) }
  }

  /** The feed of a symbol; `undefined` if the feed has no minutes. */
  feedOf(id: SymbolId): FeedKey | undefined {
    const feed = feedOf(this.#symbols.symbol(id))
    const definition = this.#registry.view().feed(feed)
    return definition?.resolutions.includes('1') ? feed : undefined
  }

  /** Symbols of the feed that have a subscriber. */
  subscribed(feed: FeedKey): CompoundKey[] {
    return this.#symbols
      .subscribedIds()
      .filter((id) => this.feedOf(id) === feed)
      .map((id) => this.#symbols.symbol(id))
  }

  /** Numbers of the symbols of the feed that had a live bar or have a subscriber. */
  idsOf(feed: FeedKey): SymbolId[] {
    const seen = [...this.#lastTimes.keys()] as SymbolId[]
    const ids = new Set([...seen, ...this.#symbols.subscribedIds()])
    return [...ids].filter((id) => feedOf(this.#symbols.symbol(id)) === feed)
  }

  close(): void {
    this.#unlisten()
    this.#baseline.close()
  }

  /** A feed that leaves the registry may be purged before it returns: replays then read its bars from the store. */
  #forgetChanged(view: RegistryView): void {
    const feeds = new Set(view.feeds().map(({ key }) => key))
    for (const key of this.#feeds.symmetricDifference(feeds)) {
      for (const id of this.idsOf(key)) this.#recent.broken(id)
      if (!feeds.has(key)) this.#gone.add(key)
      else if (this.#gone.delete(key)) this.#forgetTimes(key)
    }
    this.#feeds = feeds
  }

  /** A feed that returns may have an earlier clock: its next bars are earlier than the last ones. */
  #forgetTimes(feed: FeedKey): void {
    for (const id of this.idsOf(feed)) if (id < this.#lastTimes.length) this.#lastTimes[id] = undefined
    this.#baseline.readAgain(feed)
    this.#feedReturned(feed)
  }
}
