import { type ServiceError, status } from '@grpc/grpc-js'
import { KubeError } from './api.ts'

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
  if (cause.status === 422) return new NotReady('ApplyRejected', cause.message)
  return cause.status === 403 ? new NotReady('Forbidden', cause.message) : undefined
}
