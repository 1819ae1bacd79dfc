import { type ServiceError, status } from '@grpc/grpc-js'
import { KubeError } from './api.ts'
import { readyOf } from './condition.ts'
import type { FeedObject, PoolObject } from './resources.ts'

/** Why an object is not ready, as text for its author. A retry does not help until something changes. */
export class NotReady extends Error {
  /** One word in CamelCase. */
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

const refusals: Readonly<Partial<Record<status, string>>> = {
  [status.INVALID_ARGUMENT]: 'Invalid',
  [status.NOT_FOUND]: 'Invalid',
  [status.FAILED_PRECONDITION]: 'Refused',
  [status.ALREADY_EXISTS]: 'SecretInUse',
  [status.UNAUTHENTICATED]: 'TokenRefused',
  [status.PERMISSION_DENIED]: 'TokenRefused',
}

const isServiceError = (cause: unknown): cause is ServiceError =>
  cause instanceof Error && 'code' in cause && 'details' in cause && typeof cause.code === 'number'

/** Messages with status 500 that name a fault of the object, such as a wrong type or two list entries with one name. */
const untyped = /^failed to (create typed patch|convert new) object /
/** Duration from which a failure of the API server counts as lasting. */
const lastingMs = 60_000

/** The message of a failure for the object's author; `undefined`: temporary, a retry may succeed. */
export function notReadyOf(cause: unknown): NotReady | undefined {
  if (cause instanceof NotReady) return cause
  if (isServiceError(cause)) {
    const reason = refusals[cause.code]
    if (reason === undefined) return undefined
    const isFeed = reason === 'Invalid' && cause.details.startsWith('feeds:')
    return new NotReady(isFeed ? 'FeedUnknown' : reason, cause.details)
  }
  if (!(cause instanceof KubeError)) return undefined
  if (cause.status === 422 || untyped.test(cause.message)) return new NotReady('ApplyRejected', cause.message)
  return cause.status === 403 ? new NotReady('Forbidden', cause.message) : undefined
}

/**
 * The message for the author of an object whose reconcile failed. A failure of the API server counts once it lasts,
 * such as one of a webhook. `undefined`: temporary. `failingMs`: time since the first of the failures in a row.
 */
export function blockedOf(
  cause: unknown,
  object: FeedObject | PoolObject,
  failingMs: number,
): NotReady | undefined {
  const refused = notReadyOf(cause)
  if (refused !== undefined) return refused
  if (!(cause instanceof KubeError) || failingMs < lastingMs) return undefined
  const had = readyOf(object.status?.conditions)
  // Some messages differ each time, and each write of a status causes the next reconcile.
  const isSame = had?.reason === 'ApplyFailed' && had.observedGeneration === object.metadata.generation
  return new NotReady('ApplyFailed', isSame ? had.message : cause.message)
}
