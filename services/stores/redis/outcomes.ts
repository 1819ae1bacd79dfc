import { Unavailable } from '../../core/failure.ts'

const dependency = 'Redis'

/** Redis is away, and it is certain that the call was not carried out. */
export class NotCarriedOut extends Unavailable {
  constructor(cause?: unknown) {
    super(dependency, cause)
  }
}

/** The call was sent and no reply came: it may have been carried out, so it is never sent again. */
export class OutcomeUnknown extends Unavailable {
  constructor(cause?: unknown) {
    super(dependency, cause)
  }
}

/** Answers by which a server says that it did nothing. */
const refusals = /^(NOSCRIPT|READONLY|LOADING|MASTERDOWN|NOREPLICAS|BUSY|OOM|MISCONF|NOAUTH|NOPERM)\b/
/** This server is no longer the primary, or not yet a server to talk to. */
const wrongPlace = /^(READONLY|LOADING|MASTERDOWN|NOAUTH|UNBLOCKED)\b/

export const isNoScript = (cause: Error): boolean => cause.message.startsWith('NOSCRIPT')
export const isWrongPlace = (cause: Error): boolean => wrongPlace.test(causeMessage(cause))

/** What a reply that is an error means; everything that is no answer of the server is unknown. */
export function outcomeOf(cause: Error): Unavailable {
  if (cause.name !== 'ReplyError') return new OutcomeUnknown(cause)
  return refusals.test(causeMessage(cause)) ? new NotCarriedOut(cause) : new OutcomeUnknown(cause)
}

/** A script's failure names the script first and the server's reason behind. */
const causeMessage = ({ message }: Error): string =>
  message.replace(/^ERR .*?@user_script: ?\d*:? ?-?/, '').replace(/^-/, '')
