import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { RegistryView } from '../../core/registry/registry.ts'
import type { FollowedRegistry } from '../../registry/follow.ts'
import type { Decide, RegistryWriter } from '../../registry/writer.ts'
import { SessionEnd } from '../session-end.ts'

export interface FeedView {
  readonly view: RegistryView
  readonly definition: FeedDefinition
}

export interface FeedRegistryDeps {
  readonly registry: Pick<FollowedRegistry, 'view'>
  readonly writer: RegistryWriter
}

/** The registry for the sessions of one feed: reads the feed and changes its records. */
export class FeedRegistry {
  readonly feed: FeedKey
  readonly #deps: FeedRegistryDeps

  constructor(feed: FeedKey, deps: FeedRegistryDeps) {
    this.feed = feed
    this.#deps = deps
  }

  /** The newest version. Throws `SessionEnd` if no manifest defines the feed any more. */
  current(): FeedView {
    return this.within(this.#deps.registry.view())
  }

  /** The feed in this version. Throws `SessionEnd` if the version does not define it. */
  within(view: RegistryView): FeedView {
    const definition = view.feed(this.feed)
    if (!definition) throw new SessionEnd('FAILED_PRECONDITION', `${this.feed} is no longer defined`)
    return { view, definition }
  }

  /** Like `RegistryWriter.change`. The view of `decide` may no longer define the feed. */
  change<T>(decide: Decide<T>): Promise<T> {
    return this.#deps.writer.change(decide)
  }
}
