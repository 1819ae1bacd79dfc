import type { FeedObject } from '../kube/resources.ts'
import { feedKeyOf } from './objects.ts'

/** The Feed that has the key: the oldest of those that name it. The UID decides between two of one second. */
export function holderOf(key: string, feeds: readonly FeedObject[]): FeedObject | undefined {
  return feeds.filter((feed) => feedKeyOf(feed) === key).toSorted(byAge)[0]
}

function byAge({ metadata: a }: FeedObject, { metadata: b }: FeedObject): number {
  const [aTime = '', bTime = ''] = [a.creationTimestamp, b.creationTimestamp]
  if (aTime !== bTime) return aTime < bTime ? -1 : 1
  return (a.uid ?? '') < (b.uid ?? '') ? -1 : 1
}
