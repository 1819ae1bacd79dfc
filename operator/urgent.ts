import type { ApiKeyObject, FeedObject, PoolObject } from './kube/resources.ts'

/**
 * Whether the object is looked at before others: it changed since its status was written, or it revokes a key. After a
 * restart thousands of unchanged objects wait, too.
 */
export function isUrgent(object: FeedObject | ApiKeyObject | PoolObject | undefined): boolean {
  if (object === undefined) return false
  const { metadata, spec, status } = object
  return status?.observedGeneration !== metadata.generation || ('revoked' in spec && spec.revoked === true)
}
