import { type CompoundKey, type FeedKey, feedOf } from '../../core/feeds/compound-key.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { SymbolGap } from '../connection/protocol.ts'
import { symbolsOf } from '../fan-out/subscriptions.ts'
import { LiveFeed, type LiveFeedDeps } from './live-feed.ts'

/** One `LiveFeed` for each feed that the registry or the bus named since the start. */
export class LiveFeeds {
  readonly #deps: LiveFeedDeps
  readonly #feeds = new Map<FeedKey, LiveFeed>()
  /** Symbols with a subscriber that the registry does not have. */
  #absent: ReadonlySet<CompoundKey> = new Set()
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

  /** What the socket misses if it is closed now. */
  openGaps(row: number): readonly SymbolGap[] {
    if (!this.#feeds.values().some(({ hasHole }) => hasHole)) return []
    return symbolsOf(this.#deps.subscriptions, row).flatMap((symbol) => {
      const feed = this.of(feedOf(symbol))
      return feed.hasHole ? [feed.gapOf(feed.symbol(symbol))] : []
    })
  }

  close(): void {
    this.#unlisten()
    for (const feed of this.#feeds.values()) feed.close()
  }

  #follow(view: RegistryView): void {
    const { symbols } = this.#deps.subscriptions
    const absent = new Set(symbols.subscribed().filter((symbol) => !view.symbol(symbol)))
    const returned = this.#absent.difference(absent)
    this.#absent = absent
    for (const symbol of absent) this.of(feedOf(symbol)).symbol(symbol).isAbsent = true
    for (const [feed, list] of Map.groupBy(returned, feedOf)) this.of(feed).returned(list)
    for (const { key } of view.feeds()) this.of(key)
    for (const feed of this.#feeds.values()) feed.follow(view)
  }
}
