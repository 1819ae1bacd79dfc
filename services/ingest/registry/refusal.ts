import { status } from '@grpc/grpc-js'
import { Failure, failures, TableOutOfOrder, Unavailable, Unfinished } from '../../core/failure.ts'

/** A refused call of the Registry; the message is for the caller. */
export class RegistryRefusal extends Error {
  readonly code: status
  constructor(code: status, message: string) {
    super(message)
    this.code = code
  }
}

export const invalid = (message: string) => new RegistryRefusal(status.INVALID_ARGUMENT, message)
export const notFound = (message: string) => new RegistryRefusal(status.NOT_FOUND, message)
export const failedPrecondition = (message: string) =>
  new RegistryRefusal(status.FAILED_PRECONDITION, message)
export const alreadyExists = (message: string) => new RegistryRefusal(status.ALREADY_EXISTS, message)
export const changedMeanwhile = (message: string) => new RegistryRefusal(status.ABORTED, message)

/** The refusal for an error; `undefined` for a defect; only its place is logged. */
export function refusalOf(error: unknown): RegistryRefusal | undefined {
  if (error instanceof RegistryRefusal) return error
  if (error instanceof Failure && error.code === 'INVALID_PARAMS') return invalid(error.message)
  if (error instanceof Unfinished) return new RegistryRefusal(status.UNAVAILABLE, error.message)
  if (error instanceof TableOutOfOrder) return failedPrecondition(`${error.message}.`)
  if (error instanceof Unavailable) {
    // Redis is a name.
    const what = error.dependency === 'Redis' ? 'Redis' : `The ${error.dependency}`
    return new RegistryRefusal(status.UNAVAILABLE, `${what} does not answer; try again.`)
  }
  return undefined
}

export const defect = new RegistryRefusal(status.INTERNAL, failures.SERVER_ERROR.message)
