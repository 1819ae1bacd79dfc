import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts'
import type { LiveSymbol } from './live-symbol.ts'

/** One `LiveFeed` for each feed that the registry or the bus named since the start. */
export class LiveFeeds {
  readonly #deps: LiveFeedDeps
  readonly #feeds = new Map<FeedKey, LiveFeed>()
  readonly #unlisten: () => void

  constructor(deps: LiveFeedDeps & { readonly registry: FollowedRegistry }) {
    this.#deps = deps
    const { registry } = deps
    this.#unlisten = registry.onChange((view) => this.#follow(view))
    if (registry.loaded) this.#follow(registry.view())
  }

  all(): Iterable<LiveFeed> {
    return this.#feeds.values()
  }

  of(key: FeedKey): LiveFeed {
    const feed = this.#feeds.get(key) ?? new LiveFeed(key, this.#deps)
    this.#feeds.set(key, feed)
    return feed
  }

  symbol(symbol: CompoundKey): LiveSymbol {
    return this.of(feedOf(symbol)).symbol(symbol)
  }

  /** The gap of a socket that gets no more bars of the symbol from now on. */
  gapOf(symbol: CompoundKey): SymbolGap {
    return this.of(feedOf(symbol)).gapOf(this.symbol(symbol))
  }

  /** What the socket misses if it is closed now. */
  openGaps(row: number): readonly SymbolGap[] {
    if (!this.#feeds.values().some(({ hasHole }) => hasHole)) return []
    const { subscriptions } = this.#deps
    return subscriptions.idsOf(row).flatMap((id) => {
      const symbol = subscriptions.symbols.symbol(id)
      return this.of(feedOf(symbol)).hasHole ? [this.gapOf(symbol)] : []
    })
  }

  close(): void {
    this.#unlisten()
    for (const feed of this.#feeds.values()) feed.close()
  }

  #follow(view: RegistryView): void {
    for (const { key } of view.feeds()) this.of(key)
    for (const feed of this.#feeds.values()) feed.follow(view)
  }
}
