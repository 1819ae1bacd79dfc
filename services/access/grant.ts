import type { KeyRecord } from '../core/api-key.ts'
import type { FeedKey } from '../core/compound-key.ts'
import { Failure } from '../core/failure.ts'
import type { FeedDefinition } from '../core/feed.ts'
import type { RegistryView } from '../core/registry.ts'

export const isGranted = (key: KeyRecord, feed: FeedKey): boolean => key.feeds.includes(feed)

/** Throws SYMBOL_NOT_PERMITTED, whose message names the feed, unless the key may use it. */
export function grant(key: KeyRecord, feed: FeedKey): void {
  if (!isGranted(key, feed))
    throw new Failure('SYMBOL_NOT_PERMITTED', `The API key has no access to the feed ${feed}.`)
}

/** The shown feeds that the key may use, ordered by key. */
export const grantedFeeds = (key: KeyRecord, view: RegistryView): readonly FeedDefinition[] =>
  view.feeds().filter((feed) => isGranted(key, feed.key))
