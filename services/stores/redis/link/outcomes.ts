import { Unavailable } from '../../../core/failure.ts'

const dependency = 'Redis'

/** Redis is unavailable, and the call was certainly not carried out. */
export class NotCarriedOut extends Unavailable {
  constructor(cause?: unknown) {
    super(dependency, cause)
  }
}

/** The call was sent and no reply arrived: it may have been carried out, so it is never sent again. */
export class OutcomeUnknown extends Unavailable {
  constructor(cause?: unknown) {
    super(dependency, cause)
  }
}

/** Error replies of a server that did nothing. */
const refusals = /^(NOSCRIPT|READONLY|LOADING|MASTERDOWN|NOREPLICAS|BUSY|OOM|MISCONF|NOAUTH|NOPERM)\b/
/** Error replies of a server that is not, or not yet, a usable primary. */
const wrongPlace = /^(READONLY|LOADING|MASTERDOWN|NOAUTH|UNBLOCKED)\b/

export const isNoScript = (cause: Error): boolean => cause.message.startsWith('NOSCRIPT')
export const isWrongPlace = (cause: Error): boolean => wrongPlace.test(causeMessage(cause))
/** The server answered with an error: the connection works. */
export const isErrorReply = (cause: unknown): cause is Error =>
  cause instanceof Error && cause.name === 'ReplyError'

/** What an error reply means; an error that is not from the server has an unknown outcome. */
export function outcomeOf(cause: Error): Unavailable {
  if (!isErrorReply(cause)) return new OutcomeUnknown(cause)
  return refusals.test(causeMessage(cause)) ? new NotCarriedOut(cause) : new OutcomeUnknown(cause)
}

/** The error of a script names the script first and the server's reason after it. */
const causeMessage = ({ message }: Error): string =>
  message.replace(/^ERR .*?@user_script: ?\d*:? ?-?/, '').replace(/^-/, '')
