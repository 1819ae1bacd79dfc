import type { FeedObject } from '../kube/resources.ts'
import { feedKeyOf } from './objects.ts'

/**
 * The Feed that may use the key (BROKER:ACCOUNT): the owner in the registry if its object still has this key, else the
 * oldest Feed with this key. `owner` is a UID. Of Feeds with the same creation time the smallest UID decides.
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
