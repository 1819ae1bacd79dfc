import { status } from '@grpc/grpc-js'
import { Unavailable } from '../core/failure.ts'

type StatusName = keyof typeof status

/** Ends a session with a gRPC status. The message is for the operator of the collector. */
export class SessionEnd extends Error {
  readonly code: StatusName

  constructor(code: StatusName, details: string) {
    super(details)
    this.code = code
  }

  get status(): { code: number; details: string } {
    return { code: status[this.code], details: this.message }
  }
}

/** The status for an error: UNAVAILABLE if a dependency is unavailable, INTERNAL for a defect. */
export function sessionEnd(cause: unknown): SessionEnd {
  if (cause instanceof SessionEnd) return cause
  if (cause instanceof Unavailable) return new SessionEnd('UNAVAILABLE', `${cause.message}; try again`)
  return new SessionEnd('INTERNAL', 'the service failed')
}
