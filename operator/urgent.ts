import type { ApiKeyObject, FeedObject, PoolObject } from './kube/resources.ts'

/** It changed, or revokes an active key. After a restart thousands of unchanged objects wait in the same queue. */
export function isUrgent(object: FeedObject | ApiKeyObject | PoolObject | undefined): boolean {
  if (object === undefined) return false
  const { metadata, status } = object
  if (status?.observedGeneration !== metadata.generation) return true
  return isKey(object) && object.spec.revoked === true && object.status?.state !== 'inactive'
}

const isKey = (object: FeedObject | ApiKeyObject | PoolObject): object is ApiKeyObject =>
  'revoked' in object.spec
