import type { FeedObject } from '../kube/resources.ts'
import { feedKeyOf } from './objects.ts'

/**
 * The Feed that may use the key. That is the owner in the registry while it names the key, else the oldest Feed that
 * names it. The UID decides between two Feeds of the same second.
 */
export function holderOf(
  key: string,
  feeds: readonly FeedObject[],
  owner: string | undefined,
): FeedObject | undefined {
  const named = feeds.filter((feed) => feedKeyOf(feed) === key)
  return named.find(({ metadata: { uid } }) => uid !== undefined && uid === owner) ?? named.toSorted(byAge)[0]
}

function byAge({ metadata: a }: FeedObject, { metadata: b }: FeedObject): number {
  const [aTime = '', bTime = ''] = [a.creationTimestamp, b.creationTimestamp]
  if (aTime !== bTime) return aTime < bTime ? -1 : 1
  return (a.uid ?? '') < (b.uid ?? '') ? -1 : 1
}
