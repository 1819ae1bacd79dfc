import { Failure } from '../core/failure.ts'
import type { FeedKey } from '../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../core/feeds/feed.ts'
import type { KeyRecord } from '../core/keys/api-key.ts'
import type { RegistryView } from '../core/registry/registry.ts'

export const isGranted = (key: KeyRecord, feed: FeedKey): boolean => key.feeds.includes(feed)

/** Throws SYMBOL_NOT_PERMITTED, with the feed in its message, unless the key may use the feed. */
export function grant(key: KeyRecord, feed: FeedKey): void {
  if (!isGranted(key, feed))
    throw new Failure('SYMBOL_NOT_PERMITTED', `The API key has no access to the feed ${feed}.`)
}

/** The shown feeds that the key may use, ordered by key. */
export const grantedFeeds = (key: KeyRecord, view: RegistryView): readonly FeedDefinition[] =>
  view.feeds().filter((feed) => isGranted(key, feed.key))
